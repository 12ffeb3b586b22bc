import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { idleMsMax } from "./session-store.ts";
import { linkRequestMsMax, removeExpiredTokens } from "./sign-in-token.ts";

/**
 * Deletes sessions that have ended, since they have network addresses, links for signing in and
 * tokens for sockets that have expired, and requests for links that no worker has answered.
 * Idempotent, even when run concurrently on several nodes.
 */
export async function removeOldSessions(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
}): Promise<void> {
  const { db, log } = parts;
  // The time of the database: a node with a wrong clock must not end the sessions of all nodes.
  const now = sql<Date>`now()`;
  const { numDeletedRows } = await db
    .deleteFrom("session")
    .where((row) =>
      row.or([
        row("expires_at", "<=", now),
        row("last_used_at", "<=", sql<Date>`now() - ${idleMsMax} * interval '1 ms'`),
      ]),
    )
    .executeTakeFirstOrThrow();
  await removeExpiredTokens(db);
  await db.deleteFrom("stream_token").where("expires_at", "<=", now).execute();
  await db
    .deleteFrom("link_request")
    .where("created_at", "<=", sql<Date>`now() - ${linkRequestMsMax} * interval '1 ms'`)
    .execute();
  await db.deleteFrom("link_request_limit").where("full_at", "<=", now).execute();
  if (numDeletedRows > 0n) log.info({ count: Number(numDeletedRows) }, "session.old_removed");
}
