import type { ColumnType, GeneratedAlways } from "kysely";
import type { Instant } from "./column-types.ts";

/** The draft of a member or a key, of which exactly one is not null, to a transcript. */
export interface TranscriptDraftTable {
  transcript_id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  client_key_id: string | null;
  /** The owner of the draft: members/<id>, apiKeys/<id> or clientKeys/<id>. */
  actor: GeneratedAlways<string>;
  /** The version that the draft changes. */
  base_version_id: string;
  /** Bytes that only the client that saved them can read. */
  content: Buffer;
  size_bytes: GeneratedAlways<number>;
  /** A new id for each save. */
  etag: string;
  /** The time of the last save. */
  updated_at: Instant;
}

/** A link with which a transcript can be read without an account. */
export interface TranscriptShareTable {
  id: string;
  transcript_id: string;
  account_id: string;
  /** The hash of the token's secret. */
  secret_hash: Buffer;
  /** null for the version that is current when the transcript is read. */
  version_id: string | null;
  with_media: boolean;
  note: string;
  /** The actor who created the share: members/<id>, apiKeys/<id> or clientKeys/<id>. */
  author: string;
  created_at: Instant;
  expires_at: Instant;
  /** The time at which the share was last used, to the minute. */
  last_read_at: Instant | null;
}

/** The state of a transcript's review, which each change of its ranges locks and replaces. */
export interface TranscriptReviewTable {
  transcript_id: string;
  account_id: string;
  etag: string;
}

/** A range of time that an author has marked. Ranges of one kind and author do not touch. */
export interface TranscriptReviewRangeTable {
  transcript_id: string;
  kind: "CHECKED" | "LISTENED";
  /** members/<id>, apiKeys/<id> or clientKeys/<id>. */
  author: string;
  start_ns: string;
  end_ns: string;
  /** The time of the latest change of the range. */
  updated_at: Instant;
}

/** A client that has a transcript open. */
export interface TranscriptParticipantTable {
  transcript_id: string;
  account_id: string;
  /** members/<id>, apiKeys/<id> or clientKeys/<id>. */
  actor: string;
  /** The name that the client has chosen for itself. */
  session: string;
  is_editing: boolean;
  /** The position in the media; null if the client has sent none. */
  position_ns: ColumnType<string | null, number | null, number | null>;
  updated_at: Instant;
  /** The time after which the client no longer counts, unless it reports again. */
  expires_at: Date;
}
