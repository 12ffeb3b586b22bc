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

/** What the operator is shown of an archive. */
export interface ArchiveState {
  /** undefined: no service has started on this database. */
  readonly id: string | undefined;
  readonly createdAt: Date | undefined;
  /** In words. */
  readonly database: string;
  readonly store: string;
  /** Why no service starts; undefined: one does. */
  readonly problem: string | undefined;
  /** Why a service would be in quarantine; none: it would not. */
  readonly quarantine: readonly string[];
}

/**
 * Whether database and media store go together, and whether a service would do all that it does.
 * Changes nothing.
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
 * Makes a database and a media store one archive that a service refuses as they are. `from`: the
 * archive that the store's mark names; it is needed where the database is of another one. A
 * quarantine stays. The id; undefined: nothing was to be done.
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
 * Ends the quarantine of an archive: it goes on where it is now, and nowhere else. Rejects where no
 * service would start.
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
 * Puts an archive in quarantine from the next start of a service on. Rejects where none has started
 * yet.
 */
export async function quarantineArchive({ db }: Pick<ArchiveParts, "db">): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await findArchiveRow(trx))) throw new Error("no service has started on this database");
    await writeArchiveRow(trx, { isQuarantined: true });
  });
}
