import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";
import type {
  AccountTable,
  ApiKeyTable,
  ClientKeyTable,
  MemberTable,
  ConsoleSettingsTable,
  SessionTable,
  InvitationMailTable,
  LinkRequestLimitTable,
  LinkRequestTable,
  SignInTokenTable,
  StreamTokenTable,
  AuditEventTable,
  UsageMinuteTable,
  UsageDayTable,
  UsageNodeTable,
  UsageStreamTable,
} from "./access-tables.ts";
import type { Instant, Whole } from "./column-types.ts";
import type {
  TranscriptDraftTable,
  TranscriptParticipantTable,
  TranscriptReviewRangeTable,
  TranscriptReviewTable,
  TranscriptShareTable,
} from "./editing-tables.ts";
import type {
  TranscriptJobTable,
  ResourceChangeTable,
  TranscriptJobPieceTable,
  AlignmentJobTable,
  TranscriptJobWindowTable,
  IdleWorkerTable,
  ModelTaskTable,
  NodeTable,
} from "./job-tables.ts";
import type {
  DeferredDeletionTable,
  MediaDescriptionTable,
  MediaHoldTable,
  MediaOutputsTable,
  MediaPeaksTable,
  MediaTable,
  UploadTable,
} from "./media-tables.ts";

/**
 * The identity of this archive, in one row. Each write of the row contains the id of its own
 * transaction; see archive-row.ts.
 */
export interface ArchiveIdentityTable {
  is_only: Generated<boolean>;
  id: string;
  created_at: Instant;
  /** The time since which the media store has had the same id; null: it does not have it yet. */
  marked_at: Date | null;
  /**
   * The place of the media: "disk", or bucket and prefix; null: the row was written by an earlier
   * version.
   */
  store: string | null;
  /** The inode of the folder of the service's own PostgreSQL; null with DATABASE_URL. */
  folder: string | null;
  /** The time at which the operator put the archive into quarantine. */
  quarantined_at: Date | null;
  /**
   * The transaction that wrote this row; it equals the row's xmin unless the row was copied here.
   */
  written_by: string;
  /** The database and table in which the row was written. */
  written_in: string;
}

/**
 * A number that increases while a service runs. The media store shows the latest numbers; see
 * archive-pulse.ts.
 */
export interface ArchivePulseTable {
  is_only: Generated<boolean>;
  number: Whole;
  nonce: string;
  at: Instant;
}

/**
 * Secrets of the service, which sign URLs ("signed-url") and encrypt page tokens ("page-token").
 */
export interface SigningKeyTable {
  name: string;
  secret: Buffer;
}

/** The head of a transcript: the data that lists need. */
export interface TranscriptTable {
  id: string;
  /** null while the transcript is in the bin, so that nothing finds it in the account. */
  account_id: string | null;
  /** The account in whose bin the transcript is; null if it is in no bin. */
  bin_account_id: Generated<string | null>;
  /** The time at which it was put into the bin. */
  binned_at: Generated<Date | null>;
  /** The member or key that put it into the bin: apiKeys/<id>, clientKeys/<id> or members/<id>. */
  binned_by: Generated<string | null>;
  version_id: string;
  /** TranscriptMetadata in proto3 JSON, with the caller's fields and the service's own. */
  metadata: JSONColumnType<Record<string, unknown>>;
  /** The parent of the version. */
  parent_version_id: string | null;
  /** metadata.subject, folded (fold-text.ts) for the filter. */
  subject: string;
  /** The place of the subject in lists that are ordered by subject (migration 0015). */
  subject_key: GeneratedAlways<string>;
  keywords: string[];
  media_id: string | null;
  /**
   * The milliseconds of metadata.recordingDuration as lists show it, by which they can be ordered;
   * null if it is unknown.
   */
  listed_ms: Generated<number | null>;
  /**
   * The duration of the recording if its media was deleted before the transcript; null if the media
   * was not deleted or the duration is unknown.
   */
  recording_ms: number | null;
  /** The type of that recording's streams; null in the same cases as recording_ms. */
  recording_file_type: Generated<"AUDIO" | "VIDEO" | null>;
  /**
   * Whether media was uploaded to the transcript, so that its metadata about the original recording
   * no longer applies.
   */
  media_was_replaced: Generated<boolean>;
  /**
   * Whether a caller has set metadata.fileType since the media was set, so that it is returned
   * regardless of the media.
   */
  file_type_is_declared: Generated<boolean>;
  created_at: Instant;
  /** The time at which the version was created. */
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
  /** How the version was made; null: it was made before kinds were recorded. */
  kind: "RECOGNIZED" | "EDITED" | "IMPORTED" | "MERGED" | "RESTORED" | "ALIGNED" | null;
  /**
   * The author: apiKeys/<id>, clientKeys/<id> or members/<id>; "" if a job made the version, or if
   * it was made before authors were recorded.
   */
  author: Generated<string>;
  /** What the author wrote about the version. */
  note: Generated<string>;
}

/** Segments as they are sent: the proto3 JSON array, compressed with zstd. */
export interface TranscriptSegmentsTable {
  transcript_id: string;
  sha256: Buffer;
  json_zstd: Buffer;
  json_bytes: number;
}

/** A URL of an account, which is notified when the account's jobs end. */
export interface WebhookTable {
  id: string;
  account_id: string;
  url: string;
  display_name: string;
  /** The events to which the webhook subscribes; empty: all events. */
  event_types: string[];
  /** The 32 bytes with which messages are signed. */
  secret: Buffer;
  /** The previous secret, with which messages are also signed until `previous_secret_until`. */
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  /** The time at which the webhook was disabled; null: it is enabled. */
  disabled_at: Date | null;
  /** The reason why the service disabled the webhook; null if its owner did. */
  disabled_reason: string | null;
  /** The time of the first failed attempt since the last successful one. */
  failing_since: Date | null;
  created_at: Instant;
}

/** A message to a webhook. All times are by the database's clock. */
export interface WebhookDeliveryTable {
  id: string;
  webhook_id: string;
  event_type: string;
  /** The job; null for a test message. */
  job_id: string | null;
  /** The message as JSON; every attempt sends these bytes. */
  body: string;
  state: Generated<"PENDING" | "DELIVERED" | "FAILED">;
  /** The total number of attempts. */
  attempts: Generated<number>;
  /**
   * The number of attempts since the delivery was created or redelivered, which determines the next
   * delay.
   */
  tries: Generated<number>;
  /** The number of the latest lease: a worker with an earlier lease changes nothing. */
  lease: Generated<number>;
  /** The time from which a worker may lease the row: the end of the lease, if there is one. */
  due_at: Instant;
  /** The time after which the message is not sent again. */
  give_up_at: Instant;
  last_attempt_at: Date | null;
  last_http_status: number | null;
  last_problem: string | null;
  created_at: Instant;
  /** The place in a trace that caused the message (W3C Trace Context); null for none. */
  traceparent: Generated<string | null>;
}

/** The vocabulary of an account, once it has had an active phrase. */
export interface VocabularyTable {
  account_id: string;
  /** A number that increases with each change of the active phrases. */
  revision: Whole;
}

/** A phrase of an account's vocabulary. */
export interface VocabularyPhraseTable {
  id: string;
  account_id: string;
  /** A BCP 47 code in canonical letter case. */
  language_code: string;
  phrase: string;
  /** The words without letter case and punctuation, unique in the account and language. */
  folded: string;
  weight: number;
  sounds_like: string[];
  source: "USER" | "EDITOR" | "IMPORT";
  state: "ACTIVE" | "CANDIDATE" | "REJECTED";
  /** The number of saves of transcripts that wrote the phrase in place of recognized words. */
  correction_count: Generated<number>;
  created_at: Instant;
  updated_at: Instant;
}

export interface Tables {
  archive_identity: ArchiveIdentityTable;
  archive_pulse: ArchivePulseTable;
  account: AccountTable;
  api_key: ApiKeyTable;
  client_key: ClientKeyTable;
  member: MemberTable;
  session: SessionTable;
  console_settings: ConsoleSettingsTable;
  sign_in_token: SignInTokenTable;
  invitation_mail: InvitationMailTable;
  link_request: LinkRequestTable;
  link_request_limit: LinkRequestLimitTable;
  stream_token: StreamTokenTable;
  audit_event: AuditEventTable;
  usage_minute: UsageMinuteTable;
  usage_day: UsageDayTable;
  usage_node: UsageNodeTable;
  usage_stream: UsageStreamTable;
  signing_key: SigningKeyTable;
  media: MediaTable;
  media_peaks: MediaPeaksTable;
  media_outputs: MediaOutputsTable;
  media_description: MediaDescriptionTable;
  media_hold: MediaHoldTable;
  deferred_deletion: DeferredDeletionTable;
  upload: UploadTable;
  transcript: TranscriptTable;
  transcript_version: TranscriptVersionTable;
  transcript_segments: TranscriptSegmentsTable;
  transcript_draft: TranscriptDraftTable;
  transcript_review: TranscriptReviewTable;
  transcript_review_range: TranscriptReviewRangeTable;
  transcript_participant: TranscriptParticipantTable;
  transcript_share: TranscriptShareTable;
  transcript_job: TranscriptJobTable;
  resource_change: ResourceChangeTable;
  transcript_job_piece: TranscriptJobPieceTable;
  transcript_job_window: TranscriptJobWindowTable;
  alignment_job: AlignmentJobTable;
  idle_worker: IdleWorkerTable;
  node: NodeTable;
  model_task: ModelTaskTable;
  vocabulary: VocabularyTable;
  vocabulary_phrase: VocabularyPhraseTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
}
