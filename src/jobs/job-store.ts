import { toJsonString } from "@bufbuild/protobuf";
import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables, TranscriptJobTable } from "../database/tables.ts";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ListPosition, PageRequest } from "../transcripts/page-request.ts";
import { exactTime, jsonText, metadataOf } from "../transcripts/transcript-store.ts";
import { failRow } from "./try-store.ts";
import { cancelledStatus } from "./job-failure.ts";

/** A job as its row tells it. */
export interface StoredJob {
  readonly id: string;
  readonly accountId: string;
  readonly state: TranscriptJobTable["state"];
  readonly progressPercent: number;
  readonly metadata: TranscriptMetadata;
  readonly durationMs: number | null;
  readonly transcriptId: string | null;
  /** google.rpc.Status as JSON text. */
  readonly error: string | null;
  readonly startedAt: Date;
  readonly updatedAt: Date;
}

export interface NewJob {
  readonly id: string;
  readonly accountId: string;
  readonly metadata: TranscriptMetadata;
  /** Where the media comes from: a URL, or a finished upload. */
  readonly source:
    | { readonly uri: string }
    | { readonly uploadId: string; readonly mediaId: string };
  readonly idempotencyKey: string | null;
  readonly requestSha256: Buffer | null;
  readonly now: Date;
}

const jobColumns = [
  "id",
  "account_id",
  "state",
  "progress_percent",
  "duration_ms",
  "transcript_id",
  "started_at",
  "updated_at",
  jsonText("metadata").as("metadata"),
  jsonText("error").as("error"),
] as const;

/**
 * Inserts a job with its turn among those that wait; undefined when the account has one with this idempotency key. Turns are
 * fair between accounts (start-time fair queueing): a job stands behind its account's others, but never behind the place
 * that the queue serves now, so that the first job of an account comes next however many another one has waiting.
 */
export async function insertJob(
  trx: Transaction<Tables>,
  job: NewJob,
): Promise<{ priority: number } | undefined> {
  const { source } = job;
  return await trx
    .insertInto("transcript_job")
    .values({
      id: job.id,
      account_id: job.accountId,
      state: "PROCESSING",
      priority: sql<number>`least(
        (select max(priority) from transcript_job where state = 'PROCESSING' and lease = 0),
        (select min(priority) - 1 from transcript_job where state = 'PROCESSING' and account_id = ${job.accountId}),
        0)`,
      metadata: toJsonString(TranscriptMetadataSchema, job.metadata),
      media_uri: "uri" in source ? source.uri : null,
      upload_id: "uri" in source ? null : source.uploadId,
      media_id: "uri" in source ? null : source.mediaId,
      idempotency_key: job.idempotencyKey,
      request_sha256: job.requestSha256,
      started_at: job.now,
      updated_at: job.now,
    })
    .onConflict((conflict) => conflict.columns(["account_id", "idempotency_key"]).doNothing())
    .returning("priority")
    .executeTakeFirst();
}

/** undefined: the account has no such job. */
export async function findJob(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<StoredJob | undefined> {
  const row = await db
    .selectFrom("transcript_job")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .select(jobColumns)
    .executeTakeFirst();
  return row && jobOf(row);
}

/** The job of an idempotency key, with the hash of its request. */
export async function findJobOfKey(
  db: Kysely<Tables>,
  accountId: string,
  key: string,
): Promise<{ job: StoredJob; requestSha256: Buffer | null } | undefined> {
  const row = await db
    .selectFrom("transcript_job")
    .where("account_id", "=", accountId)
    .where("idempotency_key", "=", key)
    .select([...jobColumns, "request_sha256"])
    .executeTakeFirst();
  return row && { job: jobOf(row), requestSha256: row.request_sha256 };
}

/** Forgets the keys of jobs that are older: such a key is as good as new. */
export async function forgetKey(
  db: Kysely<Tables>,
  accountId: string,
  key: string,
  before: Date,
): Promise<void> {
  await db
    .updateTable("transcript_job")
    .set({ idempotency_key: null, request_sha256: null })
    .where("account_id", "=", accountId)
    .where("idempotency_key", "=", key)
    .where("started_at", "<", before)
    .execute();
}

/** One page of an account's jobs, newest first. */
export async function listJobs(
  db: Kysely<Tables>,
  accountId: string,
  page: PageRequest,
): Promise<{ jobs: StoredJob[]; next: ListPosition | undefined }> {
  let query = db
    .selectFrom("transcript_job")
    .where("account_id", "=", accountId)
    .select([...jobColumns, exactTime("started_at").as("position")])
    .orderBy("started_at", "desc")
    .orderBy("id", "desc")
    .limit(page.size + 1);
  if (page.after) {
    const [time, id] = page.after;
    query = query.where(sql<boolean>`(started_at, id) < (${time}::timestamptz, ${id}::uuid)`);
  }
  const rows = await query.execute();
  const shown = rows.slice(0, page.size);
  const last = shown.at(-1);
  return {
    jobs: shown.map(jobOf),
    next: last && rows.length > page.size ? [last.position, last.id] : undefined,
  };
}

/** The media of an account's finished upload. It cannot go away until the transaction ends. */
export async function lockUploadMedia(
  trx: Kysely<Tables>,
  accountId: string,
  uploadId: string,
): Promise<string | undefined> {
  const row = await trx
    .selectFrom("upload")
    .innerJoin("media", "media.id", "upload.media_id")
    .where("upload.id", "=", uploadId)
    .where("upload.account_id", "=", accountId)
    .where("upload.transcript_id", "is", null)
    .select("media.id")
    .forKeyShare()
    .executeTakeFirst();
  return row?.id;
}

/** Ends a job as cancelled; false when the account has no such job that is PROCESSING. */
export async function cancelJob(
  trx: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  return await failRow(trx, id, cancelledStatus, (query) =>
    query.where("account_id", "=", accountId),
  );
}

interface JobRow {
  readonly id: string;
  readonly account_id: string;
  readonly state: TranscriptJobTable["state"];
  readonly progress_percent: number;
  readonly metadata: string;
  readonly duration_ms: number | null;
  readonly transcript_id: string | null;
  readonly error: string | null;
  readonly started_at: Date;
  readonly updated_at: Date;
}

function jobOf(row: JobRow): StoredJob {
  return {
    id: row.id,
    accountId: row.account_id,
    state: row.state,
    progressPercent: row.progress_percent,
    metadata: metadataOf(row.metadata),
    durationMs: row.duration_ms,
    transcriptId: row.transcript_id,
    error: row.error,
    startedAt: row.started_at,
    updatedAt: row.updated_at,
  };
}
