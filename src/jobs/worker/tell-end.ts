import { toJson } from "@bufbuild/protobuf";
import { sql, type Transaction } from "kysely";
import type { Tables } from "../../database/tables.ts";
import { TranscriptJobSchema } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { insertDeliveries, isListening } from "../../webhooks/delivery-store.ts";
import { failureDetails } from "../job-failure.ts";
import { jobMessage } from "../job-message.ts";
import { jobColumns, jobOf } from "../stored-job.ts";

/** What the statement that ends a job returns: whether tellEnd() has anybody to tell. */
export const isAwaited = isListening(sql.ref("transcript_job.account_id")).as("is_awaited");

/**
 * Has the account's webhooks told that a job has ended, if and when the transaction that ends it
 * commits.
 */
export async function tellEnd(trx: Transaction<Tables>, jobId: string): Promise<void> {
  const row = await trx
    .selectFrom("transcript_job")
    .where("id", "=", jobId)
    .select(jobColumns)
    .executeTakeFirstOrThrow();
  const job = jobOf(row);
  await insertDeliveries(trx, job.accountId, jobId, {
    type: job.state === "SUCCESS" ? "transcriptjob.succeeded" : "transcriptjob.failed",
    at: job.updatedAt,
    data: toJson(TranscriptJobSchema, jobMessage(job), { registry: failureDetails }),
  });
}
