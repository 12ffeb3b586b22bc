import { sql, type RawBuilder, type Transaction } from "kysely";
import type { JobAudio } from "../../auth/usage-store.ts";
import type { Lease } from "../../database/lease.ts";
import type { Tables } from "../../database/tables.ts";
import type { StatusJson } from "../../gen/google/rpc/status_pb.ts";
import { deletePieces } from "./job-checkpoints.ts";
import { isAwaited, notifyEnd } from "./notify-end.ts";

/** The result of a job that has succeeded. */
export interface JobSuccess {
  readonly lease: Lease;
  readonly transcriptId: string;
  readonly durationMs: number;
  /** The model with which the media was recognized. */
  readonly model: string;
  /** Whether the transcript keeps the media. */
  readonly keepsMedia: boolean;
}

/**
 * Ends jobs as SUCCESS, and returns the audio to count for each. Returns undefined if one of the
 * leases is lost.
 */
export async function succeedJobs(
  trx: Transaction<Tables>,
  jobs: readonly JobSuccess[],
): Promise<readonly JobAudio[] | undefined> {
  const ids = jobs.map(({ lease }) => lease.id);
  const { rows } = await sql<{
    id: string;
    is_awaited: boolean;
    account_id: string;
    key_id: string | null;
    member_id: string | null;
    duration_ms: number;
  }>`
    update transcript_job
    set state = 'SUCCESS', progress_percent = 100, transcript_id = ended.transcript_id,
      duration_ms = ended.duration_ms, used_model = ended.model, updated_at = greatest(now(), updated_at),
      media_id = case when ended.keeps_media then null else media_id end
    from unnest(${ids}::uuid[], ${jobs.map(({ lease }) => lease.number)}::int[],
        ${jobs.map(({ transcriptId }) => transcriptId)}::uuid[],
        ${jobs.map(({ durationMs }) => durationMs)}::int[],
        ${jobs.map(({ model }) => model)}::text[],
        ${jobs.map(({ keepsMedia }) => keepsMedia)}::bool[])
      as ended (id, lease, transcript_id, duration_ms, model, keeps_media)
    where transcript_job.id = ended.id and transcript_job.lease = ended.lease and state = 'PROCESSING'
    returning transcript_job.id, ${isAwaited}, account_id, key_id, member_id, transcript_job.duration_ms
  `.execute(trx);
  for (const { id, is_awaited: isAwaitedHere } of rows) if (isAwaitedHere) await notifyEnd(trx, id);
  if (rows.length !== jobs.length) return undefined;
  return rows.map((row) => ({
    accountId: row.account_id,
    keyId: row.key_id,
    memberId: row.member_id,
    ms: row.duration_ms,
  }));
}

/** Ends a job as ERROR; false: the lease is lost. */
export async function failJob(
  trx: Transaction<Tables>,
  lease: Lease,
  error: StatusJson,
): Promise<boolean> {
  const end = { state: "ERROR", error } as const;
  return await failRow(trx, lease.id, end, sql<boolean>`lease = ${lease.number}`);
}

/**
 * Ends an unfinished job without a transcript, if the condition holds as well. A job that was to
 * transcribe a transcript again keeps nothing of it if it was deleted meanwhile.
 */
export async function failRow(
  trx: Transaction<Tables>,
  id: string,
  { state, error }: { readonly state: "ERROR" | "CANCELLED"; readonly error: StatusJson },
  condition: RawBuilder<boolean>,
): Promise<boolean> {
  const mayEnd = sql<boolean>`id = ${id} and state in ('PROCESSING', 'WAITING_FOR_CONTENT') and ${condition}`;
  const isForgotten = await hasLostTranscript(trx, mayEnd);
  const row = await trx
    .updateTable("transcript_job")
    .set({
      ...(isForgotten && forgotten),
      state,
      error: JSON.stringify(error),
      updated_at: sql<Date>`greatest(now(), updated_at)`,
    })
    .where(mayEnd)
    .returning(isAwaited)
    .executeTakeFirst();
  if (row) await deletePieces(trx, id);
  if (row?.is_awaited) await notifyEnd(trx, id);
  return row !== undefined;
}

/**
 * Locks the transcript of a job that may end, if it is for a new version, and returns whether it
 * was deleted. A deletion that begins after this waits for the end of the job, and its trigger
 * clears the job (migration 0049). As in all other changes, the transcript is locked before the
 * job.
 */
async function hasLostTranscript(
  trx: Transaction<Tables>,
  mayEnd: RawBuilder<boolean>,
): Promise<boolean> {
  const job = await trx
    .selectFrom("transcript_job")
    .where(mayEnd)
    .select("new_version_of")
    .executeTakeFirst();
  if (!job || job.new_version_of === null) return false;
  const transcript = await trx
    .selectFrom("transcript")
    .where("id", "=", job.new_version_of)
    .select("id")
    .forKeyShare()
    .executeTakeFirst();
  return transcript === undefined;
}

/** What the trigger clears, except for the error, which the caller has not seen yet. */
const forgotten = {
  metadata: sql<string>`jsonb_strip_nulls(jsonb_build_object(
    'languageCode', metadata -> 'languageCode', 'fileType', metadata -> 'fileType'))`,
  subject: "",
  keywords: [],
  media_uri: null,
  hints: null,
};
