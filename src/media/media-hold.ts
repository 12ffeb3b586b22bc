import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { createLog, type Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import type { MediaStore } from "./media-store.ts";

const leaseMs = 60_000;
const renewEveryMs = 15_000;

/**
 * A hold of a backup: while it is in force, no bytes of media are deleted, so that all media that
 * the database names at one moment can be copied afterwards. It ends when it is disposed of, or 60
 * seconds after its process has died.
 */
export interface MediaHold extends AsyncDisposable {
  /** Resolves if the hold has been in force without a gap; rejects with a message otherwise. */
  confirm(): Promise<void>;
}

/** Takes a hold. It is in force when the promise resolves. `leaseMs` is for tests. */
export async function holdMedia(
  db: Kysely<Tables>,
  options: { readonly leaseMs?: number; readonly renewEveryMs?: number } = {},
): Promise<MediaHold> {
  const lease = options.leaseMs ?? leaseMs;
  const id = newId();
  const heldUntil = sql<Date>`now() + ${lease} * interval '1 ms'`;
  await db
    .deleteFrom("media_hold")
    .where("held_until", "<", sql<Date>`now()`)
    .execute();
  await db.insertInto("media_hold").values({ id, held_until: heldUntil }).execute();
  const confirm = async (): Promise<void> => {
    // A hold that has expired once may have missed a deletion, so it is not renewed.
    const { numUpdatedRows } = await db
      .updateTable("media_hold")
      .set({ held_until: heldUntil })
      .where("id", "=", id)
      .where("held_until", ">", sql<Date>`now()`)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) return;
    throw new Error(
      `the hold on deletions of media expired, because it was not renewed for ${lease / 1000} s: media may be missing`,
    );
  };
  const repeating = {
    everyMs: options.renewEveryMs ?? renewEveryMs,
    log: createLog("silent"),
    event: "media.hold_not_renewed",
  };
  const renewing = openRepeat(repeating, confirm);
  return {
    confirm,
    async [Symbol.asyncDispose]() {
      await renewing[Symbol.asyncDispose]();
      // Without this, the hold expires by itself.
      await db
        .deleteFrom("media_hold")
        .where("id", "=", id)
        .execute()
        .catch(() => {});
    },
  };
}

/** Returns whether a hold is in force. */
export async function isMediaHeld(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql`
    select from media_hold where held_until > now() limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Returns a store that deletes nothing while a hold is in force. Deletions of media are deferred:
 * see deleteDeferred(). Removed media stays where it is. The hold is looked up after the record was
 * deleted: either the hold is in force, or the backup that takes it later finds no record.
 */
export function withHolds(
  store: MediaStore,
  { db, log }: { readonly db: Kysely<Tables>; readonly log: Log },
): MediaStore {
  return {
    ...store,
    async delete(id) {
      if (!(await isMediaHeld(db))) return await store.delete(id);
      await db
        .insertInto("deferred_deletion")
        .values({ media_id: id })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      log.info({ mediaId: id }, "media.deletion_deferred");
    },
    removed: {
      ...store.removed,
      async add(id) {
        if (!(await isMediaHeld(db))) await store.removed.add(id);
      },
      async delete(id) {
        if (!(await isMediaHeld(db))) await store.removed.delete(id);
      },
    },
  };
}

const deletedAtOnce = 1_000;

/** Deletes the bytes whose deletion was deferred, unless a hold is in force. */
export async function deleteDeferred(parts: {
  readonly db: Kysely<Tables>;
  /** The store itself, not that of withHolds(). */
  readonly store: Pick<MediaStore, "delete">;
  readonly log: Log;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { db, store, log, signal } = parts;
  const page = db.selectFrom("deferred_deletion").select("media_id").limit(deletedAtOnce);
  let count = 0;
  for (;;) {
    const rows = await page.execute();
    for (const { media_id: id } of rows) {
      signal?.throwIfAborted();
      if (await isMediaHeld(db)) return;
      await store.delete(id);
      await db.deleteFrom("deferred_deletion").where("media_id", "=", id).execute();
      count += 1;
    }
    if (rows.length === 0) break;
  }
  if (count > 0) log.info({ count }, "media.deferred_deleted");
}

/** Returns the ids without those whose deletion was deferred. */
export async function withoutDeferred(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return ids;
  const query = db.selectFrom("deferred_deletion").where("media_id", "in", ids).select("media_id");
  const deferred = new Set((await query.execute()).map(({ media_id: id }) => id));
  return ids.filter((id) => !deferred.has(id));
}
