import type { Kysely } from "kysely";
import { LRUCache } from "lru-cache";
import type { Tables } from "../database/tables.ts";
import { importVerifyingKey, type VerifyingKey } from "./access-token.ts";
import type { StoredSecrets } from "./api-key.ts";
import { scopes, type Scope } from "./caller.ts";
import { cacheReads, cachedMax } from "./cached-reads.ts";

/** The columns that every kind of key has. */
interface StoredKey {
  readonly id: string;
  readonly accountId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly lastUsedAt: Date | null;
}

export interface StoredApiKey extends StoredKey, StoredSecrets {
  readonly expiresAt: Date | null;
}

export interface StoredClientKey extends StoredKey, VerifyingKey {
  readonly expiresAt: Date | null;
}

/**
 * Reads keys. They are cached only briefly, so that a revoked key is refused within the second that
 * docs/api.md allows. Keys of a disabled account are not found.
 */
export interface KeyStore {
  apiKey(id: string): Promise<StoredApiKey | undefined>;
  clientKey(id: string): Promise<StoredClientKey | undefined>;
  /**
   * Records the use of a key, to the minute: only the first use in a minute is written. Returns
   * undefined if there is no write to wait for.
   */
  noteUse(table: "api_key" | "client_key", key: StoredKey): Promise<void> | undefined;
}

const minuteMs = 60_000;

export function createKeyStore(db: Kysely<Tables>, now: () => number): KeyStore {
  const noted = new LRUCache<string, number>({ max: cachedMax });
  return {
    apiKey: cacheReads(now, (id) => readApiKey(db, id)).find,
    clientKey: cacheReads<StoredClientKey>(now, (id, before) => readClientKey(db, id, before)).find,
    noteUse(table, key) {
      const minute = Math.floor(now() / minuteMs) * minuteMs;
      const last = Math.max(noted.get(key.id) ?? 0, key.lastUsedAt?.getTime() ?? 0);
      if (minute <= last) return undefined;
      noted.set(key.id, minute);
      return writeUse(db, table, key.id, new Date(minute));
    },
  };
}

async function writeUse(
  db: Kysely<Tables>,
  table: "api_key" | "client_key",
  id: string,
  at: Date,
): Promise<void> {
  await db
    .updateTable(table)
    .set({ last_used_at: at })
    .where("id", "=", id)
    .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<", at)]))
    .execute();
}

async function readApiKey(db: Kysely<Tables>, id: string): Promise<StoredApiKey | undefined> {
  const row = await db
    .selectFrom("api_key")
    .innerJoin("account", "account.id", "api_key.account_id")
    .where("api_key.id", "=", id)
    .where("account.disabled_at", "is", null)
    .selectAll("api_key")
    .executeTakeFirst();
  return (
    row && {
      id,
      accountId: row.account_id,
      scopes: knownScopes(row.scopes),
      lastUsedAt: row.last_used_at,
      secretHash: row.secret_hash,
      previousHash: row.previous_secret_hash,
      previousUntil: row.previous_secret_until,
      expiresAt: row.expires_at,
    }
  );
}

/**
 * Reads a client key. The public key of an id never changes, so a key that was imported before is
 * reused.
 */
async function readClientKey(
  db: Kysely<Tables>,
  id: string,
  before: StoredClientKey | undefined,
): Promise<StoredClientKey | undefined> {
  const row = await db
    .selectFrom("client_key")
    .innerJoin("account", "account.id", "client_key.account_id")
    .where("client_key.id", "=", id)
    .where("account.disabled_at", "is", null)
    .selectAll("client_key")
    .executeTakeFirst();
  return (
    row && {
      id,
      accountId: row.account_id,
      scopes: knownScopes(row.scopes),
      lastUsedAt: row.last_used_at,
      expiresAt: row.expires_at,
      clientId: row.client_id,
      algorithm: row.algorithm,
      key: before?.key ?? importVerifyingKey(row.public_key),
    }
  );
}

/** Returns the scopes in a row of keys, without unknown ones, which come from a newer version. */
export function knownScopes(names: readonly string[]): ReadonlySet<Scope> {
  return new Set(scopes.filter((scope) => names.includes(scope)));
}
