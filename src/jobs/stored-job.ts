import type { TranscriptJobTable } from "../database/job-tables.ts";
import { create } from "@bufbuild/protobuf";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jsonText, metadataOf } from "../transcripts/metadata-text.ts";

/** A job as it is stored. */
export interface StoredJob {
  readonly id: string;
  readonly accountId: string;
  readonly state: TranscriptJobTable["state"];
  readonly progressPercent: number;
  readonly metadata: TranscriptMetadata;
  readonly durationMs: number | null;
  /** The upload that contains the media; null if it is downloaded from a URL. */
  readonly uploadId: string | null;
  readonly transcriptId: string | null;
  /**
   * The id that the transcript will have; null unless the job was submitted before its content.
   */
  readonly contentTranscriptId: string | null;
  /** The transcript that gets a new version from the job; null if it makes a transcript. */
  readonly newVersionOf: string | null;
  /** The model that is used, or that of the request; null until it is known. */
  readonly model: string | null;
  /** A google.rpc.Status as JSON text. */
  readonly error: string | null;
  readonly startedAt: Date;
  readonly updatedAt: Date;
}

/** Returns whether a job with this state has ended. */
export function hasEnded(state: StoredJob["state"]): boolean {
  return state !== "PROCESSING" && state !== "WAITING_FOR_CONTENT";
}

/** The columns that jobOf() reads. */
export const jobColumns = [
  "id",
  "account_id",
  "state",
  "progress_percent",
  "duration_ms",
  "upload_id",
  "transcript_id",
  "content_transcript_id",
  "new_version_of",
  "model",
  "used_model",
  "started_at",
  "updated_at",
  jsonText("metadata").as("metadata"),
  jsonText("error").as("error"),
] as const;

export interface JobRow {
  readonly id: string;
  readonly account_id: string;
  readonly state: TranscriptJobTable["state"];
  readonly progress_percent: number;
  readonly metadata: string;
  readonly duration_ms: number | null;
  readonly upload_id: string | null;
  readonly transcript_id: string | null;
  readonly content_transcript_id: string | null;
  readonly new_version_of: string | null;
  readonly model: string | null;
  readonly used_model: string | null;
  readonly error: string | null;
  readonly started_at: Date;
  readonly updated_at: Date;
}

/**
 * Returns the model that recognizes a job's media, as far as it is known. A node of an older
 * version ignores the model of the request and states none, so a job that succeeded may have none.
 */
export function statedModel(row: Pick<JobRow, "state" | "model" | "used_model">): string | null {
  return row.used_model ?? (row.state === "SUCCESS" ? null : row.model);
}

export function jobOf(row: JobRow): StoredJob {
  return {
    id: row.id,
    accountId: row.account_id,
    state: row.state,
    progressPercent: row.progress_percent,
    metadata: readableMetadata(row.metadata),
    durationMs: row.duration_ms,
    uploadId: row.upload_id,
    transcriptId: row.transcript_id,
    contentTranscriptId: row.content_transcript_id,
    newVersionOf: row.new_version_of,
    model: statedModel(row),
    error: row.error,
    startedAt: row.started_at,
    updatedAt: row.updated_at,
  };
}

/**
 * Returns the stored metadata, or empty metadata if it is damaged, so that the job can still be
 * ended and listed. The job's attempt logs the error.
 */
function readableMetadata(text: string): TranscriptMetadata {
  try {
    return metadataOf(text);
  } catch {
    return create(TranscriptMetadataSchema);
  }
}
