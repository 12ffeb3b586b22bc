import { create } from "@bufbuild/protobuf";
import {
  TranscriptJob_State as State,
  TranscriptJobSchema,
  type TranscriptJob,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, timestampFromDate } from "../std/duration.ts";
import type { StoredJob } from "./stored-job.ts";
import { storedStatus } from "./stored-status.ts";

/**
 * Returns a job as it is returned, listed and sent to webhooks (§2.1). `jobsBefore` is its place in
 * the queue.
 */
export function jobMessage(job: StoredJob, jobsBefore?: number): TranscriptJob {
  const message = submittedMessage(job);
  message.state = State[job.state];
  message.progressPercent = job.progressPercent;
  message.lastUpdatedTime = timestampFromDate(job.updatedAt);
  if (jobsBefore !== undefined && job.state === "PROCESSING") message.jobsBefore = jobsBefore;
  if (job.transcriptId !== null) {
    message.result = transcriptResult(job.transcriptId);
  } else if (job.error !== null) {
    message.result = { case: "error", value: storedStatus(job.error) };
  }
  if (job.durationMs !== null && message.transcriptMetadata) {
    message.transcriptMetadata.recordingDuration = durationFromMs(job.durationMs);
  }
  return message;
}

/** Returns the response to submit, which has neither state nor progress (§4.1). */
export function submittedMessage(job: StoredJob): TranscriptJob {
  const { id, startedAt, metadata, uploadId, contentTranscriptId, newVersionOf, model } = job;
  return create(TranscriptJobSchema, {
    name: `transcriptjob/${id}`,
    startTime: timestampFromDate(startedAt),
    transcriptMetadata: metadata,
    ...(uploadId !== null && { upload: `uploads/${uploadId}` }),
    ...(newVersionOf !== null && { newVersionOf: `transcripts/${newVersionOf}` }),
    ...(model !== null && { model }),
    ...(contentTranscriptId !== null && { result: transcriptResult(contentTranscriptId) }),
  });
}

function transcriptResult(id: string) {
  return { case: "transcript", value: `transcripts/${id}` } as const;
}
