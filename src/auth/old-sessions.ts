import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { idleMsMax } from "./session-store.ts";

/**
 * Deletes sessions that have ended, since they have network addresses, and links for signing in and
 * tokens for sockets that have expired. Idempotent, even when run concurrently on several nodes.
 */
export async function removeOldSessions(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly now?: () => number;
}): Promise<void> {
  const { db, log, now = Date.now } = parts;
  const at = now();
  const { numDeletedRows } = await db
    .deleteFrom("session")
    .where((row) =>
      row.or([
        row("expires_at", "<=", new Date(at)),
        row("last_used_at", "<=", new Date(at - idleMsMax)),
      ]),
    )
    .executeTakeFirstOrThrow();
  await db.deleteFrom("sign_in_token").where("expires_at", "<=", new Date(at)).execute();
  await db
    .deleteFrom("stream_token")
    .where("expires_at", "<=", sql<Date>`now()`)
    .execute();
  if (numDeletedRows > 0n) log.info({ count: Number(numDeletedRows) }, "session.old_removed");
}
