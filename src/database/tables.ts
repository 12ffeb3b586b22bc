import type { Generated, JSONColumnType } from "kysely";
import type {
  AccountTable,
  ApiKeyTable,
  ClientKeyTable,
  MemberTable,
  SessionTable,
  SignInTokenTable,
  StreamTokenTable,
  AuditEventTable,
  UsageMinuteTable,
  UsageDayTable,
  UsageNodeTable,
  UsageStreamTable,
} from "./access-tables.ts";
import type { Instant, Whole } from "./column-types.ts";

/**
 * The identity of this archive: one row. Each write of it names its own transaction, see
 * archive-row.ts.
 */
export interface ArchiveIdentityTable {
  is_only: Generated<boolean>;
  id: string;
  created_at: Instant;
  /** Since when the media store carries the same id; null: not yet. */
  marked_at: Date | null;
  /** The place of the media: "disk", or bucket and prefix; null: written by an earlier version. */
  store: string | null;
  /** Inode of the folder of the service's own PostgreSQL; null with DATABASE_URL. */
  folder: string | null;
  /** When the operator put the archive into quarantine. */
  quarantined_at: Date | null;
  /** The transaction that wrote this row: its xmin, unless the row was copied here. */
  written_by: string;
  /** The database and the table that it was written in. */
  written_in: string;
}

/**
 * A number that grows while a service runs; the media store shows the latest ones, see
 * archive-pulse.ts.
 */
export interface ArchivePulseTable {
  is_only: Generated<boolean>;
  number: Whole;
  nonce: string;
  at: Instant;
}

/**
 * Secrets of the service: URLs are signed ("signed-url") and page tokens encrypted ("page-token")
 * with them.
 */
export interface SigningKeyTable {
  name: string;
  secret: Buffer;
}

/** A recording in the media store. A row is written after its bytes are durable. */
export interface MediaTable {
  id: string;
  account_id: string;
  size_bytes: Whole;
  /**
   * null until it is known: media that was put into a store without the service has not been read
   * yet.
   */
  sha256: Buffer | null;
  /** audio/..., video/... or application/octet-stream, from the bytes. */
  content_type: string;
  created_at: Instant;
  /** The duration of its first audio stream; null until it is described, and if it has none. */
  duration_ms: number | null;
  /** The type of its streams. */
  file_type: "AUDIO" | "VIDEO" | null;
  /** Pixels of the whole waveform, once it is done. */
  peaks_count: number | null;
  /** When the description was completed or failed. */
  described_at: Date | null;
  /** The reason (ErrorInfo) why it could not be described. */
  problem: string | null;
}

/** A part of a waveform: a checkpoint for when its worker dies. */
export interface MediaPeaksTable {
  media_id: string;
  /** 0, 1, 2, ... */
  number: number;
  /** Pairs of signed bytes: least and greatest sample of a pixel. */
  peaks: Buffer;
}

/** Media that waits to be described, or is being described; deleted with the media. */
export interface MediaDescriptionTable {
  media_id: string;
  /** Number of the latest lease: a worker with an earlier one changes nothing. */
  lease: Generated<number>;
  /** The number of attempts that have begun, without those that were forgiven. */
  tries: Generated<number>;
  /** A worker may lease it from this time on: the end of the lease, if there is one. */
  due_at: Instant;
}

/** The destination of one PUT. */
export interface UploadTable {
  id: string;
  account_id: string;
  /** The transcript that gets the media; null for uploads/<id>. */
  transcript_id: string | null;
  /** The name of the file, as the caller sent it; "" if it is unknown. */
  file_name: Generated<string>;
  expires_at: Date;
  created_at: Instant;
  /** Set when the PUT has succeeded. */
  media_id: string | null;
}

/** The head of a transcript: what lists need. */
export interface TranscriptTable {
  id: string;
  account_id: string;
  version_id: string;
  /** TranscriptMetadata in proto3 JSON, the caller's fields and the service's own. */
  metadata: JSONColumnType<Record<string, unknown>>;
  /** Parent of the version. */
  parent_version_id: string | null;
  /** metadata.subject, folded (fold-text.ts) for the filter. */
  subject: string;
  keywords: string[];
  media_id: string | null;
  /**
   * The duration of the recording if its media was deleted before the transcript; null: it was not,
   * or the duration is unknown.
   */
  recording_ms: number | null;
  /** The type of that recording's streams; null: as for recording_ms. */
  recording_file_type: Generated<"AUDIO" | "VIDEO" | null>;
  /** Media was uploaded to it, so its metadata about the original recording no longer applies. */
  media_was_replaced: Generated<boolean>;
  /**
   * A caller has set metadata.fileType since the media was set, so it is shown whatever the media
   * is.
   */
  file_type_is_declared: Generated<boolean>;
  created_at: Instant;
  /** When the version was made. */
  updated_at: Instant;
}

/** An immutable version. */
export interface TranscriptVersionTable {
  id: string;
  transcript_id: string;
  parent_id: string | null;
  metadata: JSONColumnType<Record<string, unknown>>;
  /** SHA-256 of the segments' JSON: versions with the same segments share one row of segments. */
  segments_sha256: Buffer;
  created_at: Instant;
}

/** Segments as they are sent: the proto3 JSON array, compressed with zstd. */
export interface TranscriptSegmentsTable {
  transcript_id: string;
  sha256: Buffer;
  json_zstd: Buffer;
  json_bytes: number;
}

export interface TranscriptJobTable {
  id: string;
  account_id: string;
  state: "PROCESSING" | "SUCCESS" | "ERROR" | "CANCELLED";
  progress_percent: Generated<number>;
  /** Its place among waiting jobs; the highest is next. */
  priority: Generated<number>;
  /** Number of the latest lease: a worker with an earlier one changes nothing. 0: never leased. */
  lease: Generated<number>;
  /** The number of attempts that have begun, without those that were forgiven. */
  tries: Generated<number>;
  /**
   * Whether the job, running alone on a worker, has got past the piece at which an earlier worker
   * died. The attempts are then reset, once per job.
   */
  is_cleared: Generated<boolean>;
  /** TranscriptMetadata in proto3 JSON, as submitted. */
  metadata: JSONColumnType<Record<string, unknown>>;
  /** The URL to fetch; null when an upload is used. */
  media_uri: string | null;
  upload_id: string | null;
  /** The key that submitted it; null for members, and for jobs of earlier versions. */
  key_id: Generated<string | null>;
  /** Set once the media is in the store. */
  media_id: string | null;
  /** Milliseconds of audio, once decoded to its end. */
  duration_ms: number | null;
  transcript_id: string | null;
  /** google.rpc.Status in JSON, if the job is ERROR or CANCELLED. */
  error: JSONColumnType<Record<string, unknown>> | null;
  idempotency_key: string | null;
  /**
   * SHA-256 of the request, to distinguish a repeated submit from another one with the same key.
   */
  request_sha256: Buffer | null;
  started_at: Instant;
  updated_at: Instant;
}

/** The result of one piece of a job's audio: a checkpoint for when its worker dies. */
export interface TranscriptJobPieceTable {
  job_id: string;
  /** 0, 1, 2, ... */
  piece: number;
  start_ms: number;
  end_ms: number;
  /** Segments of this piece: a proto3 JSON array, times from the start of the media. */
  segments: JSONColumnType<unknown[]>;
}

/** The speakers of a window of a job's audio: a checkpoint for when its worker dies. */
export interface TranscriptJobWindowTable {
  job_id: string;
  /** 0, 1, 2, ... */
  number: number;
  start_ms: number;
  end_ms: number;
  /** WindowSpeakers: turns with times from the start of the window, and voices. */
  speakers: JSONColumnType<object>;
}

/** A worker with an idle engine; it renews this row each second. */
export interface IdleWorkerTable {
  id: string;
  /** How many jobs it has asked for that no other worker has released yet. */
  wanted: number;
  seen_at: Instant;
}

/** A URL of an account that is notified when its jobs end. */
export interface WebhookTable {
  id: string;
  account_id: string;
  url: string;
  display_name: string;
  /** The events that it subscribes to; empty: all. */
  event_types: string[];
  /** 32 bytes that messages are signed with. */
  secret: Buffer;
  /** The previous secret: it signs as well until then. */
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  /** null: it is enabled. */
  disabled_at: Date | null;
  /** Why the service disabled it; null when its owner did. */
  disabled_reason: string | null;
  /** The first failed attempt since one succeeded. */
  failing_since: Date | null;
  created_at: Instant;
}

/** A message to a webhook. Times are of the database's clock. */
export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  event_type: string;
  /** null: a test. */
  job_id: string | null;
  /** JSON: every attempt sends these bytes. */
  body: string;
  state: Generated<"PENDING" | "DELIVERED" | "FAILED">;
  /** All attempts. */
  attempts: Generated<number>;
  /** Attempts since it was created or redelivered: they decide the next delay. */
  tries: Generated<number>;
  /** Number of the latest lease: a worker with an earlier one changes nothing. */
  lease: Generated<number>;
  /** A worker may lease it from this time on: the end of the lease, if there is one. */
  due_at: Instant;
  /** After this time it is not sent again. */
  give_up_at: Instant;
  last_attempt_at: Date | null;
  last_http_status: number | null;
  last_problem: string | null;
  created_at: Instant;
}

export interface Tables {
  archive_identity: ArchiveIdentityTable;
  archive_pulse: ArchivePulseTable;
  account: AccountTable;
  api_key: ApiKeyTable;
  client_key: ClientKeyTable;
  member: MemberTable;
  session: SessionTable;
  sign_in_token: SignInTokenTable;
  stream_token: StreamTokenTable;
  audit_event: AuditEventTable;
  usage_minute: UsageMinuteTable;
  usage_day: UsageDayTable;
  usage_node: UsageNodeTable;
  usage_stream: UsageStreamTable;
  signing_key: SigningKeyTable;
  media: MediaTable;
  media_peaks: MediaPeaksTable;
  media_description: MediaDescriptionTable;
  upload: UploadTable;
  transcript: TranscriptTable;
  transcript_version: TranscriptVersionTable;
  transcript_segments: TranscriptSegmentsTable;
  transcript_job: TranscriptJobTable;
  transcript_job_piece: TranscriptJobPieceTable;
  transcript_job_window: TranscriptJobWindowTable;
  idle_worker: IdleWorkerTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
}
