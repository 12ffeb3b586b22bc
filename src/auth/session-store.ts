import type { Kysely } from "kysely";
import { epochMs } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import { scopesOfMember, type Caller } from "./caller.ts";
import { cacheReads, type CachedReads } from "./cached-reads.ts";
import { knownScopes } from "./key-store.ts";

/** A signed-in user of the console, with their current scopes. */
export interface Session extends Omit<Caller, "origin"> {
  readonly id: string;
  /** The name of the member or key; for a member without a name, the e-mail address. */
  readonly displayName: string;
  readonly accountDisplayName: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  /** The time at which the session ends, even if it is in use. */
  readonly expiresAt: Date;
  readonly secretHash: Buffer;
  readonly previousHash: Buffer | null;
  readonly previousUntil: Date | null;
  readonly rotatedAt: Date;
  /** How far the clock of the database is ahead of that of this node. */
  readonly clockAheadMs: number;
}

/** A session ends after this time without use. */
export const idleMsMax = 12 * 3_600_000;
/** Every session ends after this time. */
export const lifeMsMax = 7 * 24 * 3_600_000;

/**
 * Reads and caches valid sessions for half a second. A session is valid if its member or key exists
 * and is valid, its account is not disabled, and it is neither idle nor expired.
 */
export function cachedSessions(
  db: Kysely<Tables>,
  clock: (() => number) | undefined,
): CachedReads<Session> {
  const now = clock ?? Date.now;
  const cache = cacheReads<Session>(now, (id) => readSession(db, id, clock));
  return {
    find: async (id) => {
      const session = await cache.find(id);
      return session && isOver(session, now()) ? undefined : session;
    },
    forget: cache.forget,
  };
}

function isOver({ lastUsedAt, expiresAt, clockAheadMs }: Session, nodeMs: number): boolean {
  const now = nodeMs + clockAheadMs;
  return expiresAt.getTime() <= now || lastUsedAt.getTime() + idleMsMax <= now;
}

async function readSession(
  db: Kysely<Tables>,
  id: string,
  clock: (() => number) | undefined,
): Promise<Session | undefined> {
  const row = await db
    .selectFrom("session")
    .innerJoin("account", "account.id", "session.account_id")
    .leftJoin("member", "member.id", "session.member_id")
    .leftJoin("api_key", "api_key.id", "session.api_key_id")
    .selectAll("session")
    .select([
      "account.display_name as account_display_name",
      "account.disabled_at",
      "member.role",
      "member.is_operator",
      "member.email",
      "member.display_name as member_display_name",
      "api_key.scopes",
      "api_key.display_name as key_display_name",
      "api_key.expires_at as key_expires_at",
      epochMs.as("database_ms"),
    ])
    .where("session.id", "=", id)
    .executeTakeFirst();
  if (!row || row.disabled_at !== null) return undefined;
  const now = clock?.() ?? row.database_ms;
  if (row.key_expires_at && row.key_expires_at.getTime() <= now) return undefined;
  const { role } = row;
  return {
    id,
    accountId: row.account_id,
    actor: role === null ? `apiKeys/${row.api_key_id}` : `members/${row.member_id}`,
    credential: { kind: "session", id },
    keyId: row.api_key_id ?? undefined,
    role: role ?? undefined,
    scopes:
      role === null
        ? knownScopes(row.scopes ?? [])
        : scopesOfMember(role, row.is_operator === true),
    displayName: row.member_display_name || row.email || (row.key_display_name ?? ""),
    accountDisplayName: row.account_display_name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    secretHash: row.secret_hash,
    previousHash: row.previous_hash,
    previousUntil: row.previous_until,
    rotatedAt: row.rotated_at,
    clockAheadMs: clock ? 0 : row.database_ms - Date.now(),
  };
}
