import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { dropContent } from "./content/content-store.ts";
import { jobMessage } from "./job-message.ts";
import { jobIdIn, jobNotFound } from "./job-name.ts";
import { cancelJob, findJob } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** Creates the RPCs that cancel and delete jobs. */
export function endMethods(
  parts: Parameters<typeof dropContent>[0] & { readonly db: Kysely<Tables> },
) {
  const { db } = parts;
  /** Drops what has arrived of the content of a job that was submitted without media. */
  const dropContentOf = async ({ uploadId, contentTranscriptId }: StoredJob) => {
    if (uploadId !== null && contentTranscriptId !== null) await dropContent(parts, uploadId);
  };
  return {
    async deleteTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const id = jobIdIn(name);
      const job = await db.transaction().execute(async (trx) => {
        const isCancelled = await cancelJob(trx, accountId, id);
        const found = await findJob(trx, accountId, id);
        if (!found) throw jobNotFound(name);
        await trx.deleteFrom("transcript_job").where("id", "=", found.id).execute();
        return { ...found, isCancelled };
      });
      if (job.isCancelled) await dropContentOf(job);
      return create(EmptySchema);
    },

    async cancelTranscriptJob({ name }, context) {
      const { accountId } = callerOf(context);
      const id = jobIdIn(name);
      const isCancelled = await db
        .transaction()
        .execute(async (trx) => await cancelJob(trx, accountId, id));
      const job = await findJob(db, accountId, id);
      if (!job) throw jobNotFound(name);
      if (isCancelled) {
        await dropContentOf(job);
        return jobMessage(job);
      }
      const message = `the job has already ended: its state is ${job.state}`;
      throw new ServiceError("failed_precondition", message, { reason: "JOB_ENDED" });
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
