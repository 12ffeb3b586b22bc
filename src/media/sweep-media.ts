import type { Kysely } from "kysely";
import { databaseClock } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { withoutDeferred } from "./media-hold.ts";
import { abandonedOf, unrecordedOf } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";

/**
 * The maximum time between the last byte of media and the creation of its record. The next sweep is
 * still within the hour.
 */
const recordedWithinMs = 45 * 60_000;
/**
 * The number of ids that one statement looks up. With one statement per id, a sweep of a large
 * archive would take minutes on every node.
 */
const lookedUpAtOnce = 1_000;
/**
 * The maximum number of recordings that a sweep sets aside. The number is also limited to 1 % of
 * the store, but always allows as many as kills can leave within an hour (50 kills of workers leave
 * 15).
 */
const setAsideMax = 100;
const setAsideShareMax = 0.01;
const setAsideMin = 30;
const dayMs = 86_400_000;

export interface SweepParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  /** The number of days for which removed media is kept. Default: 30. */
  readonly removedDays?: number;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
}

type ClockedSweep = SweepParts & { readonly now: () => number };

/**
 * Reconciles the database and the store: restores removed media that has a record, sets aside media
 * without a record, as a kill leaves it, and deletes media that was removed long ago and partial
 * media without an upload. If there is
 * more unrecorded media than kills can leave, something else is wrong. In that case, sets nothing
 * aside and logs an error. Resolves to the number of recordings set aside.
 */
export async function sweepMedia(given: SweepParts): Promise<number> {
  const parts = { ...given, now: given.now ?? (await databaseClock(given.db)) };
  await sweepRemoved(parts);
  await sweepPartial(parts);
  return await setUnrecordedAside(parts);
}

async function sweepRemoved(parts: ClockedSweep): Promise<void> {
  const { db, store, log, removedDays = 30, now, signal } = parts;
  const before = now() - removedDays * dayMs;
  const [putBack, deleted]: [string[], string[]] = [[], []];
  for await (const page of pagesOf(store.removed.list())) {
    const unrecorded = new Set(
      await unrecordedOf(
        db,
        page.map(({ id }) => id),
      ),
    );
    for (const { id, removedAt } of page) {
      signal?.throwIfAborted();
      if (!unrecorded.has(id)) {
        if (await store.removed.putBack(id)) putBack.push(id);
      } else if (removedAt.getTime() <= before) {
        await store.removed.delete(id);
        deleted.push(id);
      }
    }
  }
  if (putBack.length > 0) log.info(counted(putBack), "media.put_back");
  if (deleted.length > 0) log.info({ ...counted(deleted), removedDays }, "media.removed_deleted");
}

/** Deletes partial media that no upload has waited for since a day ago. */
async function sweepPartial({ db, store, log, now, signal }: ClockedSweep): Promise<void> {
  const deleted: string[] = [];
  for await (const page of pagesOf(store.partial.list())) {
    const old = page.filter(({ since }) => since.getTime() <= now() - dayMs);
    const ids = old.map(({ id }) => id);
    for (const id of await abandonedOf(db, ids)) {
      signal?.throwIfAborted();
      await store.partial.abort(id);
      deleted.push(id);
    }
  }
  if (deleted.length > 0) log.info(counted(deleted), "media.partial_deleted");
}

async function setUnrecordedAside(parts: ClockedSweep): Promise<number> {
  const { store, log, signal } = parts;
  const found = await findUnrecorded(parts);
  const share = Math.floor(found.stored * setAsideShareMax);
  const max = Math.min(setAsideMax, Math.max(setAsideMin, share));
  const { stored, unrecorded } = found;
  if (unrecorded > max) {
    log.error({ unrecorded, stored, max }, "media.sweep_stopped");
    return 0;
  }
  for (const id of found.ids) {
    signal?.throwIfAborted();
    await store.removed.add(id);
  }
  if (unrecorded > 0) log.info(counted(found.ids), "media.set_aside");
  return unrecorded;
}

/**
 * Counts all recordings and the unrecorded ones. Also returns the ids of unrecorded recordings, at
 * most as many as can be set aside.
 */
async function findUnrecorded({ db, store, now, signal }: ClockedSweep) {
  const found: string[] = [];
  let [stored, unrecorded] = [0, 0];
  for await (const page of pagesOf(store.list())) {
    signal?.throwIfAborted();
    stored += page.length;
    const old = page.filter(({ putAt }) => putAt.getTime() <= now() - recordedWithinMs);
    const ids = old.map(({ id }) => id);
    const unknown = await withoutDeferred(db, await unrecordedOf(db, ids));
    unrecorded += unknown.length;
    found.push(...unknown.slice(0, Math.max(0, setAsideMax - found.length)));
  }
  return { stored, unrecorded, ids: found };
}

async function* pagesOf<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < lookedUpAtOnce) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Returns log fields with the number of recordings and a limited number of their ids. */
function counted(mediaIds: readonly string[]) {
  return { count: mediaIds.length, mediaIds: mediaIds.slice(0, setAsideMax) };
}
