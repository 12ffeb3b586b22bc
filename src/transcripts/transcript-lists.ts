import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { TranscriptFilter } from "./filter.ts";
import type { ListPosition, PageRequest } from "./page-request.ts";
import {
  exactTime,
  jsonText,
  metadataOf,
  type StoredTranscript,
  type StoredVersion,
} from "./transcript-store.ts";

export interface ListPage<Item> {
  readonly items: readonly Item[];
  /** undefined on the last page. */
  readonly next: ListPosition | undefined;
}

export type ListedTranscript = Omit<StoredTranscript, "segments">;

/** One page of an account's transcripts, newest first by creation time, then id. */
export async function listTranscripts(
  db: Kysely<Tables>,
  accountId: string,
  filter: TranscriptFilter | undefined,
  page: PageRequest,
): Promise<ListPage<ListedTranscript>> {
  let query = db
    .selectFrom("transcript as t")
    .innerJoin("transcript_version as v", "v.id", "t.version_id")
    .where("t.account_id", "=", accountId)
    .select([
      "t.id",
      "t.media_id",
      jsonText("t.metadata").as("metadata"),
      "t.version_id",
      "v.parent_id",
    ])
    .select(["v.created_at as version_created_at", exactTime("t.created_at").as("position")])
    .orderBy("t.created_at", "desc")
    .orderBy("t.id", "desc")
    .limit(page.size + 1);
  if (filter) query = query.where(passes(filter));
  if (page.after) query = query.where(isBehind("t", page.after));
  return pageOf(await query.execute(), page.size, (row) => ({
    id: row.id,
    metadata: metadataOf(row.metadata),
    mediaId: row.media_id,
    version: { id: row.version_id, parentId: row.parent_id, createdAt: row.version_created_at },
  }));
}

/** One page of the versions of a transcript, newest first; none when the account has no such transcript. */
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

function isBehind(alias: "t" | "v", [createdAt, id]: ListPosition): RawBuilder<boolean> {
  const [time, key] = [sql.ref(`${alias}.created_at`), sql.ref(`${alias}.id`)];
  return sql<boolean>`(${time}, ${key}) < (${createdAt}::timestamptz, ${id}::uuid)`;
}

/** The text is lowered where the column was, so that both sides fold alike; what LIKE reads as a pattern is escaped. */
function passes(filter: TranscriptFilter): RawBuilder<boolean> {
  if (filter.by === "keywords") {
    return sql<boolean>`${sql.ref("t.keywords")} @> ${[...filter.keywords]}::text[]`;
  }
  const pattern = `%${filter.text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`${sql.ref("t.subject")} like lower(${pattern}::text)`;
}

/** The query asked for one row more than fits: it tells whether there is another page. */
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
