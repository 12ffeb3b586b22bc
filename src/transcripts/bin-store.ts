import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { actorName } from "../auth/actor-name.ts";
import type { Tables } from "../database/tables.ts";
import type { PageRequest } from "../std/page-request.ts";
import { isBehind, newestBy, orderedBy, positionOf } from "./row-order.ts";

/**
 * Returns the condition that an account has a transcript that is not in its bin, for statements
 * about what belongs to the transcript.
 */
export function hasListed(accountId: string, transcriptId: string) {
  return sql<boolean>`exists (select from transcript as listed
    where listed.id = ${transcriptId} and listed.account_id = ${accountId})`;
}

/** Puts transcripts of an account into its bin. Returns the ids of those that were not there. */
export async function putIntoBin(
  trx: Transaction<Tables>,
  { accountId, actor }: { readonly accountId: string; readonly actor: string },
  ids: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    update transcript set account_id = null, bin_account_id = account_id,
      binned_at = ${now}, binned_by = ${actor}
    where id in (select id from transcript
      where account_id = ${accountId} and id = any(${[...ids]}::uuid[]) order by id for update)
    returning id
  `.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** Returns transcripts from an account's bin to its lists. Returns the ids of those in the bin. */
export async function takeFromBin(
  trx: Transaction<Tables>,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    update transcript set account_id = bin_account_id, bin_account_id = null,
      binned_at = null, binned_by = null
    where id in (select id from transcript
      where bin_account_id = ${accountId} and id = any(${[...ids]}::uuid[]) order by id for update)
    returning id
  `.execute(trx);
  return new Set(rows.map(({ id }) => id));
}

/** A deleted transcript, and its media. */
export interface DeletedTranscript {
  readonly id: string;
  readonly mediaId: string | null;
}

/** Deletes transcripts that are in an account's bin, or in its lists if `from` says so. */
export async function deleteTranscripts(
  trx: Transaction<Tables>,
  { accountId, from }: { readonly accountId: string; readonly from: "bin" | "lists" },
  ids: readonly string[],
): Promise<readonly DeletedTranscript[]> {
  const owner = sql.ref(from === "bin" ? "bin_account_id" : "account_id");
  const { rows } = await sql<DeletedTranscript>`
    delete from transcript where id in (select id from transcript
      where ${owner} = ${accountId} and id = any(${[...ids]}::uuid[]) order by id for update)
    returning id, media_id as "mediaId"
  `.execute(trx);
  return rows;
}

/** Deletes a batch of transcripts that were put into any bin before this time. */
export async function deleteBinnedBefore(
  trx: Transaction<Tables>,
  before: RawBuilder<Date>,
  rowsMax: number,
): Promise<readonly DeletedTranscript[]> {
  const { rows } = await sql<DeletedTranscript>`
    delete from transcript where id in (
      select id from transcript where binned_at < ${before}
      order by binned_at limit ${rowsMax} for update skip locked)
    returning id, media_id as "mediaId"
  `.execute(trx);
  return rows;
}

const newest = newestBy("binned_at");

/** A transcript in the bin, with its position in the list. */
export type ListedBinned = Awaited<ReturnType<typeof listBinned>>[number];

/** Reads the rows of a page of an account's bin, newest first, and one more if there is one. */
export async function listBinned(db: Kysely<Tables>, accountId: string, page: PageRequest) {
  let query = db
    .selectFrom("transcript as t")
    .where("t.bin_account_id", "=", accountId)
    .select(["t.id", "t.binned_by", "t.listed_ms", positionOf(newest, "t").as("position")])
    .select("t.binned_at")
    .$narrowType<{ binned_at: Date; binned_by: string }>()
    .select([
      sql<string>`coalesce(t.metadata ->> 'subject', '')`.as("subject"),
      sql<string>`coalesce(t.metadata ->> 'languageCode', '')`.as("language_code"),
      actorName("t.binned_by").as("author_name"),
    ])
    .orderBy(orderedBy(newest, "t"))
    .limit(page.size + 1);
  if (page.after) query = query.where(isBehind(newest, "t", page.after));
  return await query.execute();
}
