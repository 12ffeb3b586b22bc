import { sql, type Kysely, type RawBuilder } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { Tables } from "../database/tables.ts";
import { metadataWithin, readPage, type RowPage } from "../database/page-rows.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import { jsonText } from "./metadata-text.ts";
import {
  mediaColumns,
  mediaOf,
  type StoredTranscript,
  type StoredVersion,
} from "./transcript-store.ts";

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** The position of the next page; undefined on the last page. */
  readonly next: ListPosition | undefined;
}

/** `metadataJson` is the stored TranscriptMetadata, in proto3 JSON. */
export interface ListedTranscript extends Omit<StoredTranscript, "metadata" | "segments"> {
  readonly metadataJson: string;
}

/**
 * Returns one page of an account's transcripts, ordered by creation time, then id, newest first. A
 * page ends early if its metadata is long.
 */
export async function listTranscripts(
  db: Kysely<Tables>,
  accountId: string,
  page: PageRequest,
): Promise<ListPage<ListedTranscript>> {
  return listedPage(
    await readPage(page, async ({ after, limit, bytesMax }) => {
      let next = selectListed(db, accountId)
        .orderBy("t.created_at", "desc")
        .orderBy("t.id", "desc")
        .limit(limit);
      if (after) next = next.where(isBehind("t", after));
      return await selectWithin(db, next, bytesMax).execute();
    }),
  );
}

/**
 * Reads the transcripts with these ids that still exist, in list order, up to the maximum number of
 * bytes of metadata per page.
 */
export async function findListed(
  db: Kysely<Tables>,
  accountId: string,
  { ids, bytesMax }: { readonly ids: readonly string[]; readonly bytesMax: number },
): Promise<ListedRow[]> {
  if (ids.length === 0) return [];
  const named = selectListed(db, accountId).where(sql<boolean>`t.id = any(${[...ids]}::uuid[])`);
  // Without a limit, PostgreSQL would inline the subquery and convert its metadata to text twice.
  return await selectWithin(db, named.limit(ids.length), bytesMax).execute();
}

export function listedPage({ rows, next }: RowPage<ListedRow>): ListPage<ListedTranscript> {
  return { items: rows.map(listedTranscript), next };
}

function selectListed(db: Kysely<Tables>, accountId: string) {
  return db
    .selectFrom("transcript as t")
    .leftJoin("media as m", "m.id", "t.media_id")
    .where("t.account_id", "=", accountId)
    .select(["t.id", "t.version_id", "t.parent_version_id", "t.updated_at", ...mediaColumns])
    .select([jsonText("t.metadata").as("metadata"), exactTime("t.created_at").as("position")]);
}

function selectWithin(db: Kysely<Tables>, rows: ReturnType<typeof selectListed>, bytesMax: number) {
  return db
    .selectFrom(rows.as("row"))
    .select(["row.id", "row.version_id", "row.parent_version_id", "row.updated_at"])
    .select(["row.media_id", "row.duration_ms", "row.file_type", "row.peaks_count"])
    .select("row.file_name")
    .select(["row.recording_ms", "row.recording_file_type", "row.media_was_replaced"])
    .select(["row.file_type_is_declared", "row.position"])
    .select(metadataWithin("row", bytesMax).as("metadata"))
    .orderBy("row.position", "desc")
    .orderBy("row.id", "desc");
}

export type ListedRow = Parameters<typeof mediaOf>[0] & {
  readonly id: string;
  readonly metadata: string | null;
  readonly version_id: string;
  readonly parent_version_id: string | null;
  readonly updated_at: Date;
  readonly position: string;
};

function listedTranscript(
  row: Omit<ListedRow, "metadata"> & { readonly metadata: string },
): ListedTranscript {
  return {
    id: row.id,
    metadataJson: row.metadata,
    media: mediaOf(row),
    version: { id: row.version_id, parentId: row.parent_version_id, createdAt: row.updated_at },
  };
}

/**
 * Returns one page of the versions of a transcript, newest first; the page is empty if the account
 * has no such transcript.
 */
export async function listVersions(
  db: Kysely<Tables>,
  accountId: string,
  transcriptId: string,
  page: PageRequest,
): Promise<ListPage<StoredVersion>> {
  let query = db
    .selectFrom("transcript_version as v")
    .innerJoin("transcript as t", "t.id", "v.transcript_id")
    .where("t.account_id", "=", accountId)
    .where("v.transcript_id", "=", transcriptId)
    .select(["v.id", "v.parent_id", "v.created_at", exactTime("v.created_at").as("position")])
    .orderBy("v.created_at", "desc")
    .orderBy("v.id", "desc")
    .limit(page.size + 1);
  if (page.after) query = query.where(isBehind("v", page.after));
  return pageOf(await query.execute(), page.size, (row) => ({
    id: row.id,
    parentId: row.parent_id,
    createdAt: row.created_at,
  }));
}

/**
 * Returns the condition that a row of the table with this alias is after a position in a list,
 * ordered by created_at, then id, newest first.
 */
export function isBehind(alias: string, [createdAt, id]: ListPosition): RawBuilder<boolean> {
  const [time, key] = [sql.ref(`${alias}.created_at`), sql.ref(`${alias}.id`)];
  return sql<boolean>`(${time}, ${key}) < (${createdAt}::timestamptz, ${id}::uuid)`;
}

/**
 * Creates a page from the rows of a query that reads one row more than the page has, which shows
 * whether there is another page.
 */
export function pageOf<Row extends { readonly id: string; readonly position: string }, Item>(
  rows: readonly Row[],
  size: number,
  itemOf: (row: Row) => Item,
): ListPage<Item> {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  return {
    items: shown.map(itemOf),
    next: last && rows.length > size ? [last.position, last.id] : undefined,
  };
}
