import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { isId, newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { placeOf, type ArchiveSettings } from "./archive-place.ts";
import { writeFirstPulse } from "./archive-pulse.ts";
import { refusalOf, type Disagreement } from "./archive-refusal.ts";
import { findArchiveRow, holdArchiveRow, writeArchiveRow, type ArchiveRow } from "./archive-row.ts";
import { unrecordedOf } from "./media-records.ts";
import type { MediaStore } from "./media-store.ts";

export interface ArchiveParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly settings: ArchiveSettings;
}

/** Whether a database and a media store belong together, and how. */
export type Verdict =
  /** Both the database and the store have the id of the same archive. */
  | { readonly kind: "same"; readonly row: ArchiveRow }
  /** Neither has an id; the store is empty, or its media is recorded in the database. */
  | { readonly kind: "new" | "unmarked" }
  | { readonly kind: "refused"; readonly why: Disagreement };

/**
 * The number of recordings looked up to decide whether a database without an id belongs to the
 * store.
 */
const sampled = 1_000;

/**
 * Checks whether the database and the media store belong to one archive. Does not write anything.
 */
export async function examineArchive({ db, store }: ArchiveParts): Promise<Verdict> {
  const row = await findArchiveRow(db);
  const markId = await readMark(store);
  const refused = (why: Disagreement): Verdict => ({ kind: "refused", why });
  if (markId !== undefined) {
    if (row?.id !== markId) return refused({ kind: "other_archive", id: row?.id, markId });
    return row.isMarked ? { kind: "same", row } : { kind: "new" };
  }
  if (row?.isMarked) return refused({ kind: "no_mark", id: row.id });
  const ids = await sampleOf(store.list());
  const stored = ids.length + (await sampleOf(store.removed.list())).length;
  const hasMedia = await db.selectFrom("media").select("id").limit(1).executeTakeFirst();
  if (!hasMedia) {
    return stored === 0 ? { kind: "new" } : refused({ kind: "new_database", stored });
  }
  if (ids.length === 0) return refused({ kind: "empty_store" });
  // A killed process can leave unrecorded media, but most media always has records.
  const unrecorded = await unrecordedOf(db, ids);
  if (2 * unrecorded.length <= ids.length) return { kind: "unmarked" };
  return refused({ kind: "unknown_media", stored });
}

/**
 * Ensures that the database and the media store belong to one archive. Names and marks a new
 * archive; only one of the nodes that start concurrently does so. If they belong to different
 * archives, rejects with a sentence for the operator, and changes nothing.
 */
export async function settleArchive(
  parts: ArchiveParts & { readonly log: Log },
): Promise<ArchiveRow> {
  const { db, store, settings, log } = parts;
  const verdict = await examineArchive(parts);
  if (verdict.kind === "refused") throw refusalOf(verdict.why, settings);
  if (verdict.kind === "same") return verdict.row;
  // The id is committed before the store is marked, so that a node that is killed between the two
  // steps finds its own id.
  const { id } = await db.transaction().execute(async (trx) => await holdArchiveRow(trx, newId()));
  return await db.transaction().execute(async (trx) => {
    const row = await holdArchiveRow(trx, id);
    const again = await examineArchive({ ...parts, db: trx });
    if (again.kind === "same") return again.row;
    if (again.kind === "refused") throw refusalOf(again.why, settings);
    const created = await store.notes.create(markName, markOf(row));
    const markId = created ? row.id : await readMark(store);
    if (markId !== undefined && markId !== row.id) {
      throw refusalOf({ kind: "other_archive", id: row.id, markId }, settings);
    }
    await writeFirstPulse(trx, store);
    await writeArchiveRow(trx, { place: await placeOf(settings) });
    log.info({ archiveId: row.id, isNew: again.kind === "new" }, "archive.marked");
    return await holdArchiveRow(trx, row.id);
  });
}

export const markName = "hlust-archive";

/** Returns the text of the note hlust-archive in the store. */
export function markOf({ id, createdAt }: Pick<ArchiveRow, "id" | "createdAt">): string {
  return `${JSON.stringify({ id, created: createdAt })}\n`;
}

/** Returns the id of the archive to which the media belongs; undefined if the store has no id. */
export async function readMark(store: Pick<MediaStore, "notes">): Promise<string | undefined> {
  const text = await store.notes.read(markName);
  if (text === undefined) return undefined;
  const [, id = ""] = /"id":\s*"([^"]*)"/.exec(text) ?? [];
  if (isId(id)) return id;
  throw new Error(
    `${markName} in the media store is not valid: restore it, or delete it and run \`hlust archive adopt\``,
  );
}

async function sampleOf(media: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of media) if (ids.push(id) === sampled) break;
  return ids;
}
