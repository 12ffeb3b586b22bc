import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { paged, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageRows = 500;

interface ReviewRow {
  /** The transcript. */
  readonly id: string;
  readonly account_fits: boolean;
  readonly is_separate: boolean;
}

/**
 * Checks that reviews belong to the account of their transcript, and that their ranges of one kind
 * and author do not overlap or touch.
 */
export async function* checkReviews(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "reviews", async (after) => await reviewPage(archive, after));
  for await (const { id, account_fits: accountFits, is_separate: isSeparate } of rows) {
    const name = `transcripts/${id}/review`;
    if (!accountFits) {
      yield { code: "REVIEW_ACCOUNT", name, what: "its account is not that of its transcript" };
    }
    if (!isSeparate) {
      const remedy = { done: "they were joined", run: () => joinStored(archive.db, id) };
      yield { code: "REVIEW_RANGES", name, what: "some of its ranges overlap or touch", remedy };
    }
  }
}

async function reviewPage({ db }: Archive, after: string): Promise<readonly ReviewRow[]> {
  const { rows } = await sql<ReviewRow>`
    select r.transcript_id as id, r.account_id = coalesce(t.account_id, t.bin_account_id) as account_fits,
      not exists (
        select from (
          select start_ns, max(end_ns) over (
            partition by kind, author order by start_ns
            rows between unbounded preceding and 1 preceding) as previous_end
          from transcript_review_range where transcript_id = r.transcript_id) as mark
        where start_ns <= previous_end) as is_separate
    from (select * from transcript_review
      where transcript_id > ${after} order by transcript_id limit ${pageRows}) r
    join transcript t on t.id = r.transcript_id
    order by r.transcript_id
  `.execute(db);
  return rows;
}

/** Joins the ranges of a review that overlap or touch. */
async function joinStored(db: Kysely<Tables>, transcriptId: string): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    await trx
      .updateTable("transcript_review")
      .set({ etag: newId() })
      .where("transcript_id", "=", transcriptId)
      .execute();
    const { rows } = await sql<{ kind: string; author: string; start: string; end: string }>`
      select kind, author, lower(range) as start, upper(range) as end from (
        select kind, author, unnest(range_agg(int8range(start_ns, end_ns))) as range
        from transcript_review_range where transcript_id = ${transcriptId}
        group by kind, author) as joined
    `.execute(trx);
    await sql`
      delete from transcript_review_range r using transcript_review_range other
      where r.transcript_id = ${transcriptId} and other.transcript_id = r.transcript_id
        and other.kind = r.kind and other.author = r.author and other.start_ns < r.start_ns
        and other.end_ns >= r.start_ns
    `.execute(trx);
    await sql`
      update transcript_review_range r set end_ns = joined.end_ns
      from unnest(${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ author }) => author)}::text[],
        ${rows.map(({ start }) => start)}::bigint[], ${rows.map(({ end }) => end)}::bigint[])
        as joined (kind, author, start_ns, end_ns)
      where r.transcript_id = ${transcriptId} and r.kind = joined.kind
        and r.author = joined.author and r.start_ns = joined.start_ns and r.end_ns <> joined.end_ns
    `.execute(trx);
    return true;
  });
}
