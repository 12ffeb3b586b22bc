import type { Kysely } from "kysely";
import { refuseTooManyKeys } from "../accounts/refuse-too-many-keys.ts";
import { newApiKey } from "../auth/api-key.ts";
import type { Scope } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { asOperator } from "./as-operator.ts";

/** An API key or a client key, without its secret. */
export interface KeySummary {
  /** `apiKeys/<id>` or `clientKeys/<id>`. */
  readonly name: string;
  readonly id: string;
  readonly accountId: string;
  readonly displayName: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  /** The limits, by the names of KeyLimits. */
  readonly limits: Readonly<Record<string, number>>;
  readonly creator: string;
}

/** Lists the keys of both kinds, newest first, for one account or for all accounts. */
export async function listKeys(db: Kysely<Tables>, accountId?: string): Promise<KeySummary[]> {
  const all = await Promise.all(
    (["api_key", "client_key"] as const).map(async (table) => {
      const rows = await db
        .selectFrom(table)
        .select(["id", "account_id", "display_name", "scopes", "limits", "creator"])
        .select(["created_at", "expires_at", "last_used_at"])
        .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
        .execute();
      return rows.map((row) => ({
        name: `${table === "api_key" ? "apiKeys" : "clientKeys"}/${row.id}`,
        id: row.id,
        accountId: row.account_id,
        displayName: row.display_name,
        scopes: row.scopes,
        createdAt: row.created_at,
        expiresAt: row.expires_at,
        lastUsedAt: row.last_used_at,
        limits: row.limits,
        creator: row.creator,
      }));
    }),
  );
  return all.flat().toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
}

/** The properties of a new key. */
export interface WantedKey {
  readonly accountId: string;
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  /** The time at which the key expires; null if never. */
  readonly expiresAt: Date | null;
  /** The limits as stored in the database column: JSON by the names of KeyLimits. */
  readonly limits: string;
}

/** Creates an API key. Its `secret`, which is the whole key, is not stored. */
export async function createKey(
  db: Kysely<Tables>,
  { accountId, displayName, scopes, expiresAt, limits }: WantedKey,
): Promise<{ readonly name: string; readonly secret: string }> {
  const { id, token, secretHash } = newApiKey();
  const name = `apiKeys/${id}`;
  await asOperator(db, accountId, async (trx, record) => {
    await refuseTooManyKeys(trx, "api_key", accountId);
    await trx
      .insertInto("api_key")
      .values({
        id,
        account_id: accountId,
        display_name: displayName,
        scopes: [...scopes],
        secret_hash: secretHash,
        expires_at: expiresAt,
        limits,
        creator: "operator",
      })
      .execute();
    const end = expiresAt && { expireTime: expiresAt.toISOString() };
    const details = { displayName, scopes: scopes.join(","), ...end };
    await record({ action: "api_key.create", resource: name, details });
  });
  return { name, secret: token };
}

/**
 * Revokes a key of either kind. Every node refuses the key within a second. Returns false if the
 * key was already deleted.
 */
export async function revokeKey(db: Kysely<Tables>, key: KeySummary): Promise<boolean> {
  const table = key.name.startsWith("apiKeys/") ? "api_key" : "client_key";
  return await asOperator(db, key.accountId, async (trx, record) => {
    const row = await trx
      .deleteFrom(table)
      .where("id", "=", key.id)
      .returning("display_name")
      .executeTakeFirst();
    if (!row) return false;
    const details = { displayName: row.display_name };
    await record({ action: `${table}.delete`, resource: key.name, details });
    return true;
  });
}
