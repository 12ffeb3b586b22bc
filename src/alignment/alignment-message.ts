import { create } from "@bufbuild/protobuf";
import {
  AlignmentJob_State as State,
  AlignmentJobSchema,
  type AlignmentJob,
} from "../gen/hlust/transcripts/v1alpha1/alignment_pb.ts";
import { storedStatus } from "../jobs/stored-status.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { StoredAlignment } from "./stored-alignment.ts";

/** Returns an alignment job as it is returned and listed. */
export function alignmentMessage(job: StoredAlignment): AlignmentJob {
  return create(AlignmentJobSchema, {
    name: `alignmentjobs/${job.id}`,
    state: State[job.state],
    progressPercent: job.progressPercent,
    startTime: timestampFromDate(job.startedAt),
    lastUpdatedTime: timestampFromDate(job.updatedAt),
    transcript: `transcripts/${job.transcriptId}`,
    transcriptVersion: job.createdVersionId ?? "",
    alignedVersion: job.versionId,
    ...(job.error !== null && { error: storedStatus(job.error) }),
  });
}
