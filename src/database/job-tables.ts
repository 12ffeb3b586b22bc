import type { ColumnType, Generated, JSONColumnType, RawBuilder } from "kysely";
import type { Instant } from "./column-types.ts";
import type { NodeStatus } from "./node-status.ts";

export interface TranscriptJobTable {
  id: string;
  account_id: string;
  state: "WAITING_FOR_CONTENT" | "PROCESSING" | "SUCCESS" | "ERROR" | "CANCELLED";
  progress_percent: Generated<number>;
  /** The job's place among waiting jobs; the job with the highest priority is next. */
  priority: Generated<number>;
  /**
   * The number of the latest lease: a worker with an earlier lease changes nothing. 0 means that
   * the job was never leased.
   */
  lease: Generated<number>;
  /** The number of attempts that have begun, excluding those that were forgiven. */
  tries: Generated<number>;
  /**
   * Whether the job, running alone on a worker, has passed the piece at which an earlier worker
   * died. The attempts are then reset, once per job.
   */
  is_cleared: Generated<boolean>;
  /** TranscriptMetadata in proto3 JSON, as submitted. */
  metadata: JSONColumnType<Record<string, unknown>>;
  /** metadata.subject, folded (fold-text.ts) for the filter. */
  subject: Generated<string>;
  keywords: Generated<string[]>;
  /** The URL from which the media is fetched; null if an upload is used. */
  media_uri: string | null;
  upload_id: string | null;
  /** The key that submitted the job; null for members, and for jobs of earlier versions. */
  key_id: Generated<string | null>;
  /** The member who submitted the job; null for keys, and for jobs of earlier versions. */
  member_id: Generated<string | null>;
  /** The media, set once it is in the store. */
  media_id: string | null;
  /** The milliseconds of audio, set once it has been decoded to its end. */
  duration_ms: number | null;
  transcript_id: string | null;
  /**
   * The id that the transcript will have, if the job was submitted before its content; null for
   * other jobs.
   */
  content_transcript_id: Generated<string | null>;
  /** The hints for its recognition, as checkHints() returns them; null if there are none. */
  hints: Generated<JSONColumnType<unknown[]> | null>;
  /** Whether its recognition ignores the vocabulary of the account. */
  ignores_vocabulary: Generated<boolean>;
  /** How its text is written, as writingOf() returns it; null for the words as they are. */
  writing: Generated<JSONColumnType<object> | null>;
  /** The model of the request; null if it names none. */
  model: Generated<string | null>;
  /** The model with which the media is recognized; null until the job has progress. */
  used_model: Generated<string | null>;
  /** The maximum number of speakers; 0: none are distinguished; null: any number. */
  speakers_max: Generated<number | null>;
  /** The transcript that gets a new version, which may have been deleted; null for other jobs. */
  new_version_of: Generated<string | null>;
  /** The place in a trace at which the job was submitted (W3C Trace Context); null for none. */
  traceparent: Generated<string | null>;
  /** google.rpc.Status in JSON, if the job is ERROR or CANCELLED. */
  error: JSONColumnType<Record<string, unknown>> | null;
  idempotency_key: string | null;
  /**
   * The SHA-256 of the request, which distinguishes a repeated submission from a different one with
   * the same key.
   */
  request_sha256: Buffer | null;
  started_at: Instant;
  updated_at: Instant;
}

/** A change of a job or a transcript, for those who watch a list of them. */
export interface ResourceChangeTable {
  /** The transaction that made the change (xid8). */
  written_by: Generated<string>;
  kind: "job" | "transcript" | "activity";
  account_id: string;
  resource_id: string;
  at: Instant;
}

/** The result for one piece of a job's audio, stored as a checkpoint in case its worker dies. */
export interface TranscriptJobPieceTable {
  job_id: string;
  /** The number of the piece: 0, 1, 2, ... */
  piece: number;
  start_ms: number;
  end_ms: number;
  /** The segments of this piece as a proto3 JSON array, with times from the start of the media. */
  segments: JSONColumnType<unknown[]>;
}

/** A job that aligns the words of a version to the media of its transcript. */
export interface AlignmentJobTable {
  id: string;
  account_id: string;
  /** The key that submitted the job; null for members. */
  key_id: string | null;
  /** The transcript, which may have been deleted since. */
  transcript_id: string;
  /** The version that is aligned. */
  version_id: string;
  state: Generated<"QUEUED" | "TRANSCODING" | "ALIGNING" | "SUCCESS" | "ERROR" | "CANCELLED">;
  progress_percent: Generated<number>;
  /** The job's place among waiting jobs; the job with the lowest turn is next. */
  turn: number;
  /** The number of the latest lease: a worker with an earlier lease changes nothing. */
  lease: Generated<number>;
  /** The number of attempts that have begun, excluding those that were forgiven. */
  tries: Generated<number>;
  /** The time from which a worker may lease the row: the end of the lease, if there is one. */
  due_at: Instant;
  /** The version that the job created, if the job is SUCCESS. */
  created_version_id: string | null;
  /** The place in a trace at which the job was submitted (W3C Trace Context); null for none. */
  traceparent: Generated<string | null>;
  /** google.rpc.Status in JSON, if the job is ERROR or CANCELLED. */
  error: JSONColumnType<Record<string, unknown>> | null;
  started_at: Instant;
  updated_at: Instant;
}

/** The speakers of a window of a job's audio, stored as a checkpoint in case its worker dies. */
export interface TranscriptJobWindowTable {
  job_id: string;
  /** The number of the window: 0, 1, 2, ... */
  number: number;
  start_ms: number;
  end_ms: number;
  /** The WindowSpeakers: turns with times from the start of the window, and voices. */
  speakers: JSONColumnType<object>;
}

/** A node that runs, which renews this row every few seconds. */
export interface NodeTable {
  id: string;
  started_at: Instant;
  seen_at: Instant;
  /** What the node reports about itself. */
  status: JSONColumnType<NodeStatus>;
}

/** A task of a node with a model, which operators create. */
export interface ModelTaskTable {
  id: string;
  /** The models folder that the task is for. */
  folder_id: string;
  /** The host name of the node that was named. */
  host: string;
  kind: "PULL" | "REMOVE" | "TEST";
  model: string;
  state: Generated<"WAITING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED">;
  /** Whether an operator has cancelled the task; a running one then ends within seconds. */
  is_cancelled: Generated<boolean>;
  /** The number of the latest lease: a node with an earlier lease changes nothing. */
  lease: Generated<number>;
  leased_until: Instant;
  attempts: Generated<number>;
  phase: Generated<string>;
  received_bytes: ColumnType<string, number | undefined, number>;
  total_bytes: ColumnType<string, number | undefined, number>;
  failure: Generated<string>;
  /** What a test has recognized. */
  result: JSONColumnType<ModelTestFigures> | null;
  created_at: Instant;
  ended_at: ColumnType<Date | null, never, Date | RawBuilder<Date>>;
}

/** What a model recognized in a sample. */
export interface ModelTestFigures {
  readonly text: string;
  readonly audioSeconds: number;
  /** The time that recognition took, without loading. */
  readonly tookMs: number;
}

/** A worker with an idle engine, which renews this row every second. */
export interface IdleWorkerTable {
  id: string;
  /** The number of jobs that it has requested and that no other worker has released yet. */
  wanted: number;
  seen_at: Instant;
}
