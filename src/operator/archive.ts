import {
  examineArchive,
  markName,
  markOf,
  settleArchive,
  type ArchiveParts,
} from "../media/archive-identity.ts";
import { databaseName, placeOf, storeName } from "../media/archive-place.ts";
import { writeFirstPulse } from "../media/archive-pulse.ts";
import { quarantineReasons } from "../media/archive-quarantine.ts";
import { refusalOf } from "../media/archive-refusal.ts";
import { findArchiveRow, holdArchiveRow, writeArchiveRow } from "../media/archive-row.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";

/** The state of an archive, as shown to the operator. */
export interface ArchiveState {
  /** The id of the archive. undefined if no service has started on this database. */
  readonly id: string | undefined;
  readonly createdAt: Date | undefined;
  /** A description of the database. */
  readonly database: string;
  readonly store: string;
  /** The reason why a service would not start; undefined if it would. */
  readonly problem: string | undefined;
  /** The reasons why a service would be in quarantine; empty if it would not. */
  readonly quarantine: readonly string[];
}

/**
 * Reports whether the database and media store belong together, and whether a service would run
 * normally. Changes nothing.
 */
export async function archiveState(parts: ArchiveParts): Promise<ArchiveState> {
  const { db, settings } = parts;
  const row = await findArchiveRow(db);
  const verdict = await examineArchive(parts);
  const isRefused = verdict.kind === "refused";
  return {
    id: row?.id,
    createdAt: row?.createdAt,
    database: databaseName(settings),
    store: storeName(settings),
    problem: isRefused ? refusalOf(verdict.why, settings).message : undefined,
    quarantine: row && !isRefused ? await quarantineReasons(parts, row) : [],
  };
}

/**
 * Joins a database and a media store that a service refuses into one archive. `from` is the archive
 * that the store's hlust-archive file names; it is required if the database belongs to another
 * archive. A quarantine remains in effect. Resolves to the id of the archive, or undefined if there
 * was nothing to do.
 */
export async function adoptMedia(
  parts: ArchiveParts & { readonly log: Log },
  from: string | undefined,
): Promise<string | undefined> {
  const { db, store, settings } = parts;
  const verdict = await examineArchive(parts);
  if (verdict.kind === "same") return undefined;
  if (verdict.kind !== "refused") return (await settleArchive(parts)).id;
  const { why } = verdict;
  const markId = why.kind === "other_archive" ? why.markId : undefined;
  const before = await findArchiveRow(db);
  if (markId !== undefined && before?.isMarked && from !== markId) {
    throw refusalOf(why, settings);
  }
  return await db.transaction().execute(async (trx) => {
    const row = await holdArchiveRow(trx, newId());
    const id = row.isMarked ? row.id : (markId ?? row.id);
    await store.notes.replace(markName, markOf({ id, createdAt: row.createdAt }));
    await writeFirstPulse(trx, store);
    const isQuarantined = row.isCopy || row.quarantinedAt !== undefined;
    await writeArchiveRow(trx, { id, place: await placeOf(settings), isQuarantined });
    return id;
  });
}

/**
 * Ends the quarantine of an archive, so that the archive continues where it is now, and nowhere
 * else. Rejects if no service would start.
 */
export async function releaseArchive(parts: ArchiveParts): Promise<void> {
  const { db, store, settings } = parts;
  const verdict = await examineArchive(parts);
  if (verdict.kind === "refused") throw refusalOf(verdict.why, settings);
  await db.transaction().execute(async (trx) => {
    if (!(await findArchiveRow(trx))) return;
    await writeFirstPulse(trx, store);
    await writeArchiveRow(trx, { place: await placeOf(settings), isQuarantined: false });
  });
}

/**
 * Puts an archive in quarantine, starting with the next start of a service. Rejects if no service
 * has started yet.
 */
export async function quarantineArchive({ db }: Pick<ArchiveParts, "db">): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await findArchiveRow(trx))) throw new Error("no service has started on this database");
    await writeArchiveRow(trx, { isQuarantined: true });
  });
}
