import { toJson } from "@bufbuild/protobuf";
import { sql, type Transaction } from "kysely";
import type { Tables } from "../../database/tables.ts";
import { TranscriptJobSchema } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { insertDeliveries, isListening } from "../../webhooks/delivery-store.ts";
import { failureDetails } from "../job-failure.ts";
import { jobMessage } from "../job-message.ts";
import { jobColumns, jobOf } from "../stored-job.ts";

/** A column of the statement that ends a job: whether notifyEnd() has to notify a webhook. */
export const isAwaited = isListening(sql.ref("transcript_job.account_id")).as("is_awaited");

/**
 * Notifies the account's webhooks that a job has ended, if the transaction that ends it commits.
 */
export async function notifyEnd(trx: Transaction<Tables>, jobId: string): Promise<void> {
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
