import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { metadataWithin, readPage, type RowPage } from "../database/page-rows.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import type { Filter } from "./filter.ts";
import { findRows, orderOfIds, readFound } from "./find-rows.ts";
import { jsonText } from "./metadata-text.ts";
import { isBehind, newestBy, orderedBy, positionOf, withKey, type RowOrder } from "./row-order.ts";
import type { SearchLimits } from "./search-limits.ts";
import {
  mediaColumns,
  mediaOf,
  originColumns,
  originOf,
  type StoredTranscript,
  type StoredVersion,
  type VersionOrigin,
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

/** A list of an account's transcripts. */
export interface TranscriptList {
  readonly accountId: string;
  readonly order: RowOrder;
}

/**
 * Returns one page of an account's transcripts, in order. A page ends early if its metadata is
 * long.
 */
export async function listTranscripts(
  db: Kysely<Tables>,
  { accountId, order }: TranscriptList,
  page: PageRequest,
): Promise<ListPage<ListedTranscript>> {
  return listedPage(
    await readPage(page, async ({ after, limit, bytesMax }) => {
      let next = selectListed(db, accountId, order).orderBy(orderedBy(order, "t")).limit(limit);
      if (after) next = next.where(isBehind(order, "t", after));
      return await selectWithin(db, next, order, bytesMax).execute();
    }),
  );
}

/** Reads those of these transcripts that still exist, in this order, whatever their length. */
export async function findListed(
  db: Kysely<Tables>,
  accountId: string,
  ids: readonly string[],
): Promise<readonly ListedTranscript[]> {
  const rows = await selectListed(db, accountId, orderOfIds(ids))
    .where(sql<boolean>`t.id = any(${[...ids]}::uuid[])`)
    .execute();
  const items = new Map(rows.map((row) => [row.id, listedTranscript(row)]));
  return ids.flatMap((id) => items.get(id) ?? []);
}

/** Finds one page of an account's transcripts that match the filter, in order. */
export async function findTranscripts(
  db: Kysely<Tables>,
  search: TranscriptList & { readonly filter: Filter },
  page: PageRequest,
  limits: SearchLimits,
): Promise<ListPage<ListedTranscript>> {
  const found = await findRows(db, { table: "transcript", ...search }, page, limits);
  // Metadata is read separately: a search scans many rows before the page is full, and metadata may
  // be long.
  return listedPage(
    await readFound(page, found, async ({ ids, bytesMax }) => {
      const order = orderOfIds(ids);
      const named = selectListed(db, search.accountId, order)
        .where(sql<boolean>`t.id = any(${[...ids]}::uuid[])`)
        // Without a limit, PostgreSQL would inline the subquery and convert its metadata to text
        // twice.
        .limit(ids.length);
      return await selectWithin(db, named, order, bytesMax).execute();
    }),
  );
}

function listedPage({ rows, next }: RowPage<ListedRow>): ListPage<ListedTranscript> {
  return { items: rows.map(listedTranscript), next };
}

function selectListed(db: Kysely<Tables>, accountId: string, order: RowOrder) {
  return db
    .selectFrom("transcript as t")
    .leftJoin("media as m", "m.id", "t.media_id")
    .leftJoin("transcript_version as v", "v.id", "t.version_id")
    .where("t.account_id", "=", accountId)
    .select(originColumns())
    .select(["t.id", "t.version_id", "t.parent_version_id", "t.updated_at", ...mediaColumns])
    .select([jsonText("t.metadata").as("metadata"), positionOf(order, "t").as("position")])
    .select(order.key("t").as("key"));
}

function selectWithin(
  db: Kysely<Tables>,
  rows: ReturnType<typeof selectListed>,
  order: RowOrder,
  bytesMax: number,
) {
  const inOrder = orderedBy(withKey(order), "row");
  return db
    .selectFrom(rows.as("row"))
    .select(["row.id", "row.version_id", "row.parent_version_id", "row.updated_at"])
    .select(["row.media_id", "row.duration_ms", "row.file_type", "row.peaks_count"])
    .select("row.file_name")
    .select(["row.recording_ms", "row.recording_file_type", "row.media_was_replaced"])
    .select(["row.file_type_is_declared", "row.position"])
    .select(["row.kind", "row.author", "row.author_name", "row.note"])
    .select(metadataWithin("row", bytesMax, inOrder).as("metadata"))
    .orderBy(inOrder);
}

type ListedRow = Parameters<typeof mediaOf>[0] &
  VersionOrigin & {
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
    version: {
      id: row.version_id,
      parentId: row.parent_version_id,
      createdAt: row.updated_at,
      ...originOf(row),
    },
  };
}

const newest = newestBy("created_at");

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
    .select(["v.id", "v.parent_id", "v.created_at", positionOf(newest, "v").as("position")])
    .select(originColumns())
    .orderBy(orderedBy(newest, "v"))
    .limit(page.size + 1);
  if (page.after) query = query.where(isBehind(newest, "v", page.after));
  return pageOf(await query.execute(), page.size, (row) => ({
    id: row.id,
    parentId: row.parent_id,
    createdAt: row.created_at,
    ...originOf(row),
  }));
}

/**
 * Creates a page from the rows of a query that reads one row more than the page has, which shows
 * whether there is another page.
 */
function pageOf<Row extends { readonly id: string; readonly position: string }, Item>(
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
