import type { ColumnType, Generated, GeneratedAlways, JSONColumnType } from "kysely";
import type { Instant, Whole } from "./column-types.ts";

/** Limits by name; a limit that is absent has not been set. */
type LimitsColumn = ColumnType<Record<string, number>, string | undefined, string>;

export interface AccountTable {
  id: string;
  display_name: string;
  created_at: Instant;
  /** The number of days after which media is deleted; null: media is never deleted by age. */
  media_retention_days: number | null;
  /**
   * The number of days after which transcripts are deleted; null: transcripts are never deleted by
   * age.
   */
  transcript_retention_days: number | null;
  /**
   * The time at which the operator disabled the account, after which its credentials are refused;
   * null: the account is enabled.
   */
  disabled_at: Date | null;
  /**
   * The limits that the operator has set, by their names in AccountLimits; the settings determine
   * the other limits.
   */
  limits: LimitsColumn;
  /** Whether corrections in transcripts add no candidates to the vocabulary. */
  vocabulary_candidates_disabled: Generated<boolean>;
  /** RecordingDefaults in proto3 JSON; null if nothing is set. */
  recording_defaults: ColumnType<
    Record<string, unknown> | null,
    string | null | undefined,
    string | null
  >;
}

export interface ApiKeyTable {
  id: string;
  account_id: string;
  display_name: string;
  scopes: string[];
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  /** The hash of the secret before the last rotation, and the time until which it is valid. */
  previous_secret_hash: Buffer | null;
  previous_secret_until: Date | null;
  created_at: Instant;
  expires_at: Date | null;
  last_used_at: Date | null;
  limits: LimitsColumn;
  /**
   * The creator: apiKeys/<id>, members/<id> or operator; "" if the key was created before creators
   * were recorded.
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

/** A member of an account. */
export interface MemberTable {
  id: string;
  account_id: string;
  /** The email address from the invitation; unique in the account, ignoring case. */
  email: string;
  display_name: string;
  role: "OWNER" | "MEMBER" | "VIEWER";
  /** The identity at the OpenID Connect provider, set at the first sign-in. */
  issuer: string | null;
  subject: string | null;
  created_at: Instant;
  last_sign_in_at: Date | null;
  /** Whether the member may manage the whole service. Only the command line sets this. */
  is_operator: Generated<boolean>;
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
   * The hash of the previous secret, which stays valid until `previous_until`, or until the new
   * secret is used if that column is null.
   */
  previous_hash: Buffer | null;
  previous_until: Date | null;
  /** The time at which the secret was generated. */
  rotated_at: Date;
  created_at: Date;
  /** The time of the last use, rounded to the minute. */
  last_used_at: Date;
  expires_at: Date;
  /** The network address from which the user signed in. */
  address: string;
  user_agent: string;
}

/** The settings that a member or an API key, of which one is not null, keeps for the console. */
export interface ConsoleSettingsTable {
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** The owner: members/<id> or apiKeys/<id>. */
  actor: GeneratedAlways<string>;
  /** A JSON object that only the console's pages read. */
  settings: string;
  updated_at: Instant;
}

/** The token of a sign-in link for a member or for an API key. The link works once. */
export interface SignInTokenTable {
  id: string;
  account_id: string;
  member_id: string | null;
  api_key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** A mail to a member, with a link that signs in. All times are by the database's clock. */
export interface InvitationMailTable {
  id: string;
  account_id: string;
  /** null: the member was removed, and the row only counts against the account's limits. */
  member_id: string | null;
  email: string;
  language: "is" | "en";
  /** The name of the person who invites; "" if a key or a person without a name does. */
  inviter: string;
  /** CANCELED: a later link has replaced this one, or the member was removed. */
  state: Generated<"PENDING" | "SENT" | "FAILED" | "CANCELED">;
  /** The number of attempts. */
  tries: Generated<number>;
  /**
   * The number of attempts whose outcome is unknown, including one in progress. After two of them
   * the mail is not sent again: the member may have it twice.
   */
  unnoted: Generated<number>;
  /** The number of the latest lease: a worker with an earlier lease changes nothing. */
  lease: Generated<number>;
  /** The time from which a worker may lease the row: the end of the lease, if there is one. */
  due_at: Instant;
  /** The time after which the mail is not sent. */
  give_up_at: Instant;
  last_attempt_at: Date | null;
  /** Why the last attempt failed: a MailProblem (src/mail/explain-failure.ts). */
  problem: string | null;
  /** What the server said of the recipient or the message; null for other problems. */
  response: string | null;
  created_at: Instant;
  /** Whether the person requested the link on the sign-in page; otherwise they were invited. */
  is_requested: Generated<boolean>;
}

/**
 * A request for links that sign in, from the sign-in page, until a worker has found the members
 * with this address. No one has checked that there are any.
 */
export interface LinkRequestTable {
  id: string;
  /** The e-mail address in lower case. */
  email: string;
  language: "is" | "en";
  /** The network address and the id of the request, for the audit log. */
  address: string;
  request_id: string;
  created_at: Instant;
}

/** How many links an e-mail address, or a network address, may still request. */
export interface LinkRequestLimitTable {
  /** A keyed hash of the address, so that the table has no addresses. */
  key: Buffer;
  /** The time at which all requests of the limit are available again. */
  full_at: Date;
}

/** An unused token for one socket, and its caller. */
export interface StreamTokenTable {
  id: string;
  account_id: string;
  /** The creator: apiKeys/<id>, clientKeys/<id> or members/<id>. */
  actor: string;
  /**
   * The kind of credential with which the token was created; the token becomes invalid when the
   * credential does.
   */
  credential_kind: "api_key" | "client_key" | "session";
  credential_id: string;
  /** The key whose limits apply. */
  key_id: string | null;
  /** SHA-256 of the secret. */
  secret_hash: Buffer;
  expires_at: Date;
}

/** The audit log, which is append-only: triggers refuse all other changes. */
export interface AuditEventTable {
  id: string;
  /** Not a foreign key, so the event remains when the account is deleted. */
  account_id: string;
  /** The time at which the event was written, not when its transaction began. */
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
 * The number of calls of an account, or of one of its keys, in a minute of the database's clock and
 * in the previous minute.
 */
export interface UsageMinuteTable {
  /** The id of the account or key. */
  subject_id: string;
  account_id: string;
  /** The number of minutes since 1970. */
  minute: Whole;
  requests: number;
  previous: number;
}

/** The daily usage (UTC) of an account, of one of its keys, or of a member in the console. */
export interface UsageDayTable {
  /** The id of the account, key or member. */
  subject_id: string;
  account_id: string;
  day: ColumnType<Date, string, never>;
  requests: Whole;
  /** Milliseconds of audio in live streams, short recognition and jobs. */
  live_ms: Whole;
  short_ms: Whole;
  job_ms: Whole;
  /** The part of `requests` that pages of the console made. */
  console_requests: ColumnType<string, number | undefined, number>;
  /**
   * The member: the subject itself, or the creator of the key; null for accounts, for other keys,
   * and for days before this was recorded.
   */
  member_id: Generated<string | null>;
}

/** A node that counts usage. */
export interface UsageNodeTable {
  id: string;
  /** The number of the node's latest write, so that a repeated write changes nothing. */
  writes: Whole;
  /** The time after which the node counts as dead, and its streams are no longer counted. */
  leased_until: Instant;
}

/** The live streams that a node has open. */
export interface UsageStreamTable {
  /** The id of the account or key. */
  subject_id: string;
  node_id: string;
  account_id: string;
  streams: number;
}
