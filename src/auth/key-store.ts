import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { importVerifyingKey, type VerifyingKey } from "./access-token.ts";
import { scopes, type Scope } from "./caller.ts";

/** What every kind of key has. */
interface StoredKey {
  readonly id: string;
  readonly accountId: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly lastUsedAt: Date | null;
}

export interface StoredApiKey extends StoredKey {
  readonly secretHash: Buffer;
  readonly expiresAt: Date | null;
}

export interface StoredClientKey extends StoredKey, VerifyingKey {}

/** Reads keys, each at most so long ago that a revoked one ends within the second that decisions (Access) allow. */
export interface KeyStore {
  apiKey(id: string): Promise<StoredApiKey | undefined>;
  clientKey(id: string): Promise<StoredClientKey | undefined>;
  /** Notes the use of a key, to the minute; writes only when the minute is a new one. */
  noteUse(table: "api_key" | "client_key", key: StoredKey): Promise<void>;
}

/** Half of what decisions allow: the other half is for the read itself. */
const keepMsMax = 500;
/** Entries kept, of keys that exist and of ids that do not. */
const entriesMax = 10_000;
const minuteMs = 60_000;

export function createKeyStore(db: Kysely<Tables>, now: () => number): KeyStore {
  const noted = new Map<string, number>();
  return {
    apiKey: remember(now, (id) => readApiKey(db, id)),
    clientKey: remember(now, (id, before) => readClientKey(db, id, before)),
    noteUse: async (table, key) => {
      const minute = Math.floor(now() / minuteMs) * minuteMs;
      const last = Math.max(noted.get(key.id) ?? 0, key.lastUsedAt?.getTime() ?? 0);
      if (minute <= last) return;
      keep(noted, key.id, minute);
      const at = new Date(minute);
      await db
        .updateTable(table)
        .set({ last_used_at: at })
        .where("id", "=", key.id)
        .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<", at)]))
        .execute();
    },
  };
}

/** One read at a time for an id, its answer kept for keepMsMax from when the read began; failures are not kept. */
function remember<T>(
  now: () => number,
  read: (id: string, before: T | undefined) => Promise<T | undefined>,
): (id: string) => Promise<T | undefined> {
  const entries = new Map<
    string,
    { readonly at: number; readonly value: Promise<T | undefined> }
  >();
  return (id) => {
    const entry = entries.get(id);
    const age = entry ? now() - entry.at : Infinity;
    if (entry && age >= 0 && age < keepMsMax) return entry.value;
    const value = (entry?.value ?? Promise.resolve(undefined))
      .catch(() => undefined)
      .then((before) => read(id, before));
    const made = { at: now(), value };
    keep(entries, id, made);
    value.catch(() => {
      if (entries.get(id) === made) entries.delete(id);
    });
    return value;
  };
}

/** Puts an entry last and drops the oldest when there are too many. */
function keep<T>(entries: Map<string, T>, id: string, value: T): void {
  entries.delete(id);
  entries.set(id, value);
  if (entries.size <= entriesMax) return;
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}

async function readApiKey(db: Kysely<Tables>, id: string): Promise<StoredApiKey | undefined> {
  const row = await db.selectFrom("api_key").selectAll().where("id", "=", id).executeTakeFirst();
  return (
    row && {
      id,
      accountId: row.account_id,
      scopes: knownScopes(row.scopes),
      lastUsedAt: row.last_used_at,
      secretHash: row.secret_hash,
      expiresAt: row.expires_at,
    }
  );
}

/** The key of an id never changes: what was imported before is taken over. */
async function readClientKey(
  db: Kysely<Tables>,
  id: string,
  before: StoredClientKey | undefined,
): Promise<StoredClientKey | undefined> {
  const row = await db.selectFrom("client_key").selectAll().where("id", "=", id).executeTakeFirst();
  return (
    row && {
      id,
      accountId: row.account_id,
      scopes: knownScopes(row.scopes),
      lastUsedAt: row.last_used_at,
      clientId: row.client_id,
      algorithm: row.algorithm,
      key: before?.key ?? (await importVerifyingKey(row.public_key, row.algorithm)),
    }
  );
}

function knownScopes(names: readonly string[]): ReadonlySet<Scope> {
  return new Set(scopes.filter((scope) => names.includes(scope)));
}
