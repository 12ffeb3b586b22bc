import type { ColumnType, Generated, JSONColumnType } from "kysely";
import type { Instant, Whole } from "./column-types.ts";

/** Limits by name; a limit that is absent is not set here. */
type LimitsColumn = ColumnType<Record<string, number>, string | undefined, string>;

export interface AccountTable {
  id: string;
  display_name: string;
  created_at: Instant;
  /** null: media is never deleted by age. */
  media_retention_days: number | null;
  /** null: transcripts are never deleted by age. */
  transcript_retention_days: number | null;
  /**
   * When the operator disabled it, after which its credentials are refused. null: it is enabled.
   */
  disabled_at: Date | null;
  /**
   * Limits that the operator set, by their names in AccountLimits; the settings apply to the
   * others.
   */
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
  /**
   * The creator: apiKeys/<id>, members/<id> or operator; "" if it was created before this was
   * recorded.
   */
  creator: Generated<string>;
}

export interface ClientKeyTable {
  id: string;
  account_id: string;
  /** The claims iss and sub of its tokens. */
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
  /** The creator, as for API keys. */
  creator: Generated<string>;
}

/** A person of an account. */
export interface MemberTable {
  id: string;
  account_id: string;
  /** As given in the invitation; unique in the account, ignoring case. */
  email: string;
  display_name: string;
  role: "OWNER" | "MEMBER" | "VIEWER";
  /** The identity at the OpenID Connect provider, set at the first sign-in. */
  issuer: string | null;
  subject: string | null;
  created_at: Instant;
  last_sign_in_at: Date | null;
}

/**
 * A console session of a member or of an API key. Times come from the clocks of the nodes, in
 * milliseconds.
 */
export interface SessionTable {
  id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** SHA-256 of the secret in the cookie. */
  secret_hash: Buffer;
  /**
   * The hash of the previous secret, which stays valid until that time; null: until the new one is
   * used.
   */
  previous_hash: Buffer | null;
  previous_until: Date | null;
  /** When the secret was made. */
  rotated_at: Date;
  created_at: Date;
  /** Rounded to the minute. */
  last_used_at: Date;
  expires_at: Date;
  /** The address of the sign-in. */
  address: string;
  user_agent: string;
}

/** The token of a sign-in link that works once, for a member or with an API key. */
export interface SignInTokenTable {
  id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** An unused token for one socket, and its caller. */
export interface StreamTokenTable {
  id: string;
  account_id: string;
  /** The creator: apiKeys/<id>, clientKeys/<id> or members/<id>. */
  actor: string;
  /** The credential it was created with; the token ends when the credential does. */
  credential_kind: "api_key" | "client_key" | "session";
  credential_id: string;
  /** The key whose limits apply. */
  key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** The audit log: it only grows (triggers refuse everything else). */
export interface AuditEventTable {
  id: string;
  /** No foreign key: it stays when the account is deleted. */
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

/**
 * Calls of an account, or of a key of it, in a minute of the database's clock and in the one
 * before.
 */
export interface UsageMinuteTable {
  /** The account's id, or the key's. */
  subject_id: string;
  account_id: string;
  /** Minutes since 1970. */
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
  /** Milliseconds of audio in live streams, short recognition and jobs. */
  live_ms: Whole;
  short_ms: Whole;
  job_ms: Whole;
}

/** A node that counts. */
export interface UsageNodeTable {
  id: string;
  /** Number of its latest write: a repeated write changes nothing. */
  writes: Whole;
  /** After this time the node counts as dead, and its streams no longer count. */
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
