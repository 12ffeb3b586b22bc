import { sql, type Kysely, type Transaction } from "kysely";
import { actorName } from "../auth/actor-name.ts";
import type { TranscriptReviewRangeTable } from "../database/editing-tables.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Range } from "./review-ranges.ts";

export type ReviewKind = TranscriptReviewRangeTable["kind"];

/** A range that an author has marked, in nanoseconds. */
export interface Mark extends Range {
  readonly kind: ReviewKind;
  /** `members/<id>`, `apiKeys/<id>` or `clientKeys/<id>`. */
  readonly author: string;
}

export interface StoredReview {
  /** "" if nothing has ever been marked. */
  readonly etag: string;
  readonly marks: readonly (Mark & { readonly authorName: string; readonly updatedAt: Date })[];
}

/** Returns the review of a transcript; undefined if the account has no such transcript. */
export async function findReview(
  db: Kysely<Tables>,
  accountId: string,
  transcriptId: string,
): Promise<StoredReview | undefined> {
  const head = await db
    .selectFrom("transcript as t")
    .leftJoin("transcript_review as r", "r.transcript_id", "t.id")
    .where("t.account_id", "=", accountId)
    .where("t.id", "=", transcriptId)
    .select("r.etag")
    .executeTakeFirst();
  if (!head) return undefined;
  const rows = await db
    .selectFrom("transcript_review_range as r")
    .where("transcript_id", "=", transcriptId)
    .select(["kind", "author", "start_ns", "end_ns", "updated_at"])
    .select(actorName("r.author").as("author_name"))
    .orderBy("start_ns")
    .orderBy("kind")
    .orderBy("author")
    .execute();
  return {
    etag: head.etag ?? "",
    marks: rows.map((row) => ({
      ...markOf(row),
      authorName: row.author_name,
      updatedAt: row.updated_at,
    })),
  };
}

/**
 * Locks the review of a transcript until the transaction ends. Returns false if the account has no
 * such transcript.
 */
export async function lockReview(
  trx: Transaction<Tables>,
  accountId: string,
  transcriptId: string,
): Promise<boolean> {
  const { rows } = await sql`
    insert into transcript_review (transcript_id, account_id, etag)
    select id, account_id, ${newId()}::uuid from transcript
    where id = ${transcriptId} and account_id = ${accountId}
    on conflict (transcript_id) do update set etag = transcript_review.etag
    returning 1
  `.execute(trx);
  return rows.length > 0;
}

/** Returns the marks of these kinds that overlap or touch a range. */
export async function findMarks(
  trx: Transaction<Tables>,
  transcriptId: string,
  { kinds, start, end }: Range & { readonly kinds: ReadonlySet<ReviewKind> },
): Promise<readonly Mark[]> {
  if (kinds.size === 0) return [];
  const rows = await trx
    .selectFrom("transcript_review_range")
    .where("transcript_id", "=", transcriptId)
    .where("kind", "in", [...kinds])
    .where("start_ns", "<=", `${end}`)
    .where("end_ns", ">=", `${start}`)
    .select(["kind", "author", "start_ns", "end_ns"])
    .execute();
  return rows.map(markOf);
}

/** Replaces marks of a locked review. Returns the number of all its marks. */
export async function replaceMarks(
  trx: Transaction<Tables>,
  transcriptId: string,
  { gone, created }: { readonly gone: readonly Mark[]; readonly created: readonly Mark[] },
): Promise<number> {
  await sql`
    delete from transcript_review_range r using ${unnested(gone)}
    where r.transcript_id = ${transcriptId} and r.kind = mark.kind and r.author = mark.author
      and r.start_ns = mark.start_ns
  `.execute(trx);
  await sql`
    insert into transcript_review_range (transcript_id, kind, author, start_ns, end_ns)
    select ${transcriptId}::uuid, mark.* from ${unnested(created)}
  `.execute(trx);
  await trx
    .updateTable("transcript_review")
    .set({ etag: newId() })
    .where("transcript_id", "=", transcriptId)
    .execute();
  const { count } = await trx
    .selectFrom("transcript_review_range")
    .where("transcript_id", "=", transcriptId)
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function unnested(marks: readonly Mark[]) {
  const kinds = marks.map(({ kind }) => kind);
  const authors = marks.map(({ author }) => author);
  const starts = marks.map(({ start }) => `${start}`);
  const ends = marks.map(({ end }) => `${end}`);
  return sql`unnest(${kinds}::text[], ${authors}::text[], ${starts}::bigint[], ${ends}::bigint[])
    as mark (kind, author, start_ns, end_ns)`;
}

function markOf(row: {
  readonly kind: ReviewKind;
  readonly author: string;
  readonly start_ns: string;
  readonly end_ns: string;
}): Mark {
  const [start, end] = [Number(row.start_ns), Number(row.end_ns)];
  return { kind: row.kind, author: row.author, start, end };
}
