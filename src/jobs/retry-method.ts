import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type Selectable } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { TranscriptJobTable } from "../database/job-tables.ts";
import type { Tables } from "../database/tables.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import {
  RetryTranscriptJobRequestSchema,
  SubmitTranscriptJobRequestSchema,
  type SubmitTranscriptJobRequest,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import type { WritingChoice } from "../writing/write-words.ts";
import { submittedMessage } from "./job-message.ts";
import { jobIdIn, jobNotFound } from "./job-name.ts";
import { jobColumns, jobOf, type JobRow, type StoredJob } from "./stored-job.ts";
import { idempotencyKeyOf, type SubmitJob } from "./submit-job.ts";

/** Creates the RPC that submits the recording of a job again, with all options of its request. */
export function retryMethod({
  db,
  submit,
}: {
  readonly db: Kysely<Tables>;
  readonly submit: SubmitJob;
}) {
  return {
    async retryTranscriptJob({ name }, context) {
      const caller = callerOf(context);
      const key = idempotencyKeyOf(context);
      const row = await findRequest(db, caller.accountId, jobIdIn(name));
      if (!row) throw jobNotFound(name);
      if (row.state !== "ERROR" && row.state !== "CANCELLED") {
        const message = `the state of the job is ${row.state}: only jobs that are ERROR or CANCELLED are submitted again`;
        throw new ServiceError("failed_precondition", message, { reason: "JOB_NOT_FAILED" });
      }
      // A job without its recording would wait in vain for content.
      const options = { key, sha256: hashOf(row.id), allowsLater: false };
      return submittedMessage(await submit(caller, requestOf(row), options));
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** A job with everything that its request had. */
type RequestRow = JobRow &
  Pick<Selectable<TranscriptJobTable>, "media_uri" | "ignores_vocabulary" | "speakers_max"> & {
    readonly hints: readonly Hint[] | null;
    readonly writing: WritingChoice | null;
  };

async function findRequest(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<RequestRow | undefined> {
  return await db
    .selectFrom("transcript_job")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .select([...jobColumns, "media_uri", "ignores_vocabulary", "speakers_max"])
    .select([
      sql<readonly Hint[] | null>`hints`.as("hints"),
      sql<WritingChoice | null>`writing`.as("writing"),
    ])
    .executeTakeFirst();
}

/** Returns the request that submitted a job. Only fields that callers can set count. */
function requestOf(row: RequestRow): SubmitTranscriptJobRequest {
  const { hints, writing, model, speakers_max: speakersMax } = row;
  return create(SubmitTranscriptJobRequestSchema, {
    ...sourceOf(row, jobOf(row)),
    speechContexts: (hints ?? []).map(({ phrase, boost, soundsLike = [] }) => ({
      phrases: [phrase],
      boost,
      soundsLike: [...soundsLike],
    })),
    ignoreVocabulary: row.ignores_vocabulary,
    profanityFilter: writing?.masksProfanity ?? false,
    enableAutomaticPunctuation: writing?.punctuation ?? false,
    enableFormatting: writing?.formats ?? false,
    model: model ?? "",
    ...(speakersMax !== null && {
      diarizationConfig: {
        enableSpeakerDiarization: speakersMax > 0,
        maxSpeakerCount: speakersMax,
      },
    }),
  });
}

function sourceOf(
  { media_uri: mediaUri }: Pick<RequestRow, "media_uri">,
  { metadata, newVersionOf, uploadId }: StoredJob,
) {
  if (newVersionOf !== null) {
    const { languageCode } = metadata;
    return { transcript: `transcripts/${newVersionOf}`, metadata: { languageCode } };
  }
  return mediaUri === null
    ? { metadata, useUri: false, uri: uploadId === null ? "" : `uploads/${uploadId}` }
    : { metadata, useUri: true, uri: mediaUri };
}

/** Returns the hash of a request, which distinguishes it from requests of other methods. */
function hashOf(id: string): Buffer {
  return createHash("sha256").update(RetryTranscriptJobRequestSchema.typeName).update(id).digest();
}
