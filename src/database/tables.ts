import type { ColumnType, Generated, JSONColumnType } from "kysely";

/** A timestamptz: read as Date; written as Date, or left to now(). */
type Instant = ColumnType<Date, Date | undefined, Date>;
/** A bigint that fits a number: pg gives it as text. */
type Whole = ColumnType<string, number, number>;

/** Limits by their names; what is absent is not limited here. */
type LimitsColumn = ColumnType<Record<string, number>, string | undefined, string>;

export interface AccountTable {
  id: string;
  display_name: string;
  created_at: Instant;
  /** null: media stays. */
  media_retention_days: number | null;
  /** null: transcripts stay. */
  transcript_retention_days: number | null;
  /** When the operator disabled it: nobody of it is let in; null: it is not. */
  disabled_at: Date | null;
  /** What the operator set, by the names of AccountLimits; what is absent is as the settings have it. */
  limits: LimitsColumn;
}

export interface ApiKeyTable {
  id: string;
  account_id: string;
  display_name: string;
  scopes: string[];
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  created_at: Instant;
  expires_at: Date | null;
  last_used_at: Date | null;
  limits: LimitsColumn;
  /** Who made it: apiKeys/<id>, members/<id> or operator; "" from before that was noted. */
  creator: Generated<string>;
}

export interface ClientKeyTable {
  id: string;
  account_id: string;
  /** iss and sub of the tokens. */
  client_id: string;
  display_name: string;
  scopes: string[];
  algorithm: "RS256" | "ES256" | "EdDSA";
  /** The public key as JWK. */
  public_key: JSONColumnType<Record<string, unknown>>;
  created_at: Instant;
  expires_at: Date | null;
  last_used_at: Date | null;
  limits: LimitsColumn;
  /** As of API keys. */
  creator: Generated<string>;
}

/** A person of an account. */
export interface MemberTable {
  id: string;
  account_id: string;
  /** As it was invited; unique in the account, whatever its letter case. */
  email: string;
  display_name: string;
  role: "OWNER" | "MEMBER" | "VIEWER";
  /** Who they are at the provider (OpenID Connect), once they have signed in. */
  issuer: string | null;
  subject: string | null;
  created_at: Instant;
  last_sign_in_at: Date | null;
}

/** Somebody who is signed in to the console: as a member, or by an API key. Times are of the clocks of nodes, to the millisecond. */
export interface SessionTable {
  id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** SHA-256 of the secret in the cookie. */
  secret_hash: Buffer;
  /** Of the secret before, which goes on being good until then; null: until the new one is shown. */
  previous_hash: Buffer | null;
  previous_until: Date | null;
  /** When the secret was made. */
  rotated_at: Date;
  created_at: Date;
  /** To the minute. */
  last_used_at: Date;
  expires_at: Date;
  /** Where they signed in from. */
  address: string;
  user_agent: string;
}

/** A token of a link that signs in once: for a member, or as an API key does. */
export interface SignInTokenTable {
  id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** A token for one socket, not yet used: whom it speaks for. */
export interface StreamTokenTable {
  id: string;
  account_id: string;
  /** Who made it: apiKeys/<id>, clientKeys/<id> or members/<id>. */
  actor: string;
  /** What it was made with, and dies with. */
  credential_kind: "api_key" | "client_key" | "session";
  credential_id: string;
  /** The key whose limits hold. */
  key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** The audit log: it only grows (triggers refuse everything else). */
export interface AuditEventTable {
  id: string;
  /** No foreign key: it stays when the account goes. */
  account_id: string;
  /** When it was written, not when its transaction began. */
  at: Instant;
  actor: string;
  action: string;
  resource: string;
  outcome: "OK" | "REFUSED";
  address: string;
  request_id: string;
  details: JSONColumnType<Record<string, string>>;
}

/** Calls of an account, or of a key of it, in a minute of the database's clock and in the one before. */
export interface UsageMinuteTable {
  /** The account's id, or the key's. */
  subject_id: string;
  account_id: string;
  /** Since 1970. */
  minute: Whole;
  requests: number;
  previous: number;
}

/** What an account, or a key of it, has used in a day (UTC). */
export interface UsageDayTable {
  /** The account's id, or the key's. */
  subject_id: string;
  account_id: string;
  day: ColumnType<Date, string, never>;
  requests: Whole;
  /** Milliseconds of audio: of live streams, short recognition, jobs. */
  live_ms: Whole;
  short_ms: Whole;
  job_ms: Whole;
}

/** A node that counts. */
export interface UsageNodeTable {
  id: string;
  /** Number of its latest write: one that comes again changes nothing. */
  writes: Whole;
  /** When its streams no longer count: it is dead. */
  leased_until: Instant;
}

/** Live streams that a node has open. */
export interface UsageStreamTable {
  /** The account's id, or the key's. */
  subject_id: string;
  node_id: string;
  account_id: string;
  streams: number;
}

/** Keys that the service signs with: of URLs ("signed-url") and page tokens ("page-token"). */
export interface SigningKeyTable {
  name: string;
  secret: Buffer;
}

/** A recording in the media store. A row is written after its bytes are durable. */
export interface MediaTable {
  id: string;
  account_id: string;
  size_bytes: Whole;
  /** null until it is known: media that a store took without the service has not been read yet. */
  sha256: Buffer | null;
  /** audio/..., video/... or application/octet-stream, from the bytes. */
  content_type: string;
  created_at: Instant;
  /** Of its first audio stream; null until it is described, and without one. */
  duration_ms: number | null;
  /** What its streams are. */
  file_type: "AUDIO" | "VIDEO" | null;
  /** Pixels of the whole waveform, once it is done. */
  peaks_count: number | null;
  /** When all of the above became known, or could not. */
  described_at: Date | null;
  /** Reason (ErrorInfo) why it could not be described. */
  problem: string | null;
}

/** A part of a waveform: where making one goes on after its worker died. */
export interface MediaPeaksTable {
  media_id: string;
  /** 0, 1, 2, ... */
  number: number;
  /** Pairs of signed bytes: least and greatest sample of a pixel. */
  peaks: Buffer;
}

/** Media that waits to be described, or is being described; it goes with the media. */
export interface MediaDescriptionTable {
  media_id: string;
  /** Number of the latest lease: a worker with an earlier one changes nothing. */
  lease: Generated<number>;
  /** Tries that began and were not taken back. */
  tries: Generated<number>;
  /** From when on a worker may take it: the end of the lease, while there is one. */
  due_at: Instant;
}

/** A place for one PUT. */
export interface UploadTable {
  id: string;
  account_id: string;
  /** The transcript that gets the media; null for uploads/<id>. */
  transcript_id: string | null;
  expires_at: Date;
  created_at: Instant;
  /** Set when the PUT has ended well. */
  media_id: string | null;
}

/** Head of a transcript: what lists need. */
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
  /** How long the recording was whose media went before the transcript; null: none did, or it is not known. */
  recording_ms: number | null;
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

/** Segments in wire form: the proto3 JSON array, compressed with zstd. */
export interface TranscriptSegmentsTable {
  transcript_id: string;
  sha256: Buffer;
  json_zstd: Buffer;
  json_bytes: number;
}

export interface TranscriptJobTable {
  id: string;
  account_id: string;
  state: "PROCESSING" | "SUCCESS" | "FAILED";
  progress_percent: Generated<number>;
  /** Its turn among waiting jobs; the highest is next. */
  priority: Generated<number>;
  /** Number of the latest lease: a worker with an earlier one changes nothing. 0: never leased. */
  lease: Generated<number>;
  /** Tries that began and neither ended the job nor gave it back. */
  tries: Generated<number>;
  /** Whether it has run alone past where its worker died, so that its tries began anew. */
  is_cleared: Generated<boolean>;
  /** TranscriptMetadata in proto3 JSON, as submitted. */
  metadata: JSONColumnType<Record<string, unknown>>;
  /** The URL to fetch; null when an upload is used. */
  media_uri: string | null;
  upload_id: string | null;
  /** The key that submitted it; null for members, and from before that was noted. */
  key_id: Generated<string | null>;
  /** Set once the media is in the store. */
  media_id: string | null;
  /** Milliseconds of audio, once decoded to its end. */
  duration_ms: number | null;
  transcript_id: string | null;
  /** google.rpc.Status in JSON, when FAILED. */
  error: JSONColumnType<Record<string, unknown>> | null;
  idempotency_key: string | null;
  /** SHA-256 of the request, to tell a repeated submit from another one with the same key. */
  request_sha256: Buffer | null;
  started_at: Instant;
  updated_at: Instant;
}

/** The result of one piece of a job's audio: where a job goes on after its worker died. */
export interface TranscriptJobPieceTable {
  job_id: string;
  /** 0, 1, 2, ... */
  piece: number;
  start_ms: number;
  end_ms: number;
  /** Segments of this piece: a proto3 JSON array, times from the start of the media. */
  segments: JSONColumnType<unknown[]>;
}

/** Who speaks in a window of a job's audio: where telling speakers apart goes on after its worker died. */
export interface TranscriptJobWindowTable {
  job_id: string;
  /** 0, 1, 2, ... */
  number: number;
  start_ms: number;
  end_ms: number;
  /** WindowSpeakers: turns with times from the start of the window, and voices. */
  speakers: JSONColumnType<object>;
}

/** A URL of an account's that is told when its jobs end. */
export interface WebhookTable {
  id: string;
  account_id: string;
  url: string;
  display_name: string;
  /** What it is told; empty: everything. */
  event_types: string[];
  /** 32 bytes that messages are signed with. */
  secret: Buffer;
  /** The one before: it signs as well until then. */
  previous_secret: Buffer | null;
  previous_secret_until: Date | null;
  /** null: it is not. */
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
  /** All that were made. */
  attempts: Generated<number>;
  /** Those since it was made, or asked for again: they decide how long the next wait is. */
  tries: Generated<number>;
  /** Number of the latest lease: a worker with an earlier one changes nothing. */
  lease: Generated<number>;
  /** From when on a worker may take it: the end of the lease, while there is one. */
  due_at: Instant;
  /** Past this time it is not tried again. */
  give_up_at: Instant;
  last_attempt_at: Date | null;
  last_http_status: number | null;
  last_problem: string | null;
  created_at: Instant;
}

export interface Tables {
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
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
}
