import { type Kysely, sql } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { asOperator } from "./as-operator.ts";

/** An account as shown to the operator. */
export interface AccountSummary {
  readonly id: string;
  readonly displayName: string;
  readonly createdAt: Date;
  /** The time at which the account was disabled; null if it is enabled. */
  readonly disabledAt: Date | null;
  /** The limits set by the operator, by the names of AccountLimits. */
  readonly limits: Readonly<Record<string, number>>;
  /** The number of API keys and client keys. */
  readonly keys: number;
  readonly members: number;
}

/** Lists all accounts, oldest first. */
export async function listAccounts(db: Kysely<Tables>): Promise<AccountSummary[]> {
  const rows = await db
    .selectFrom("account as a")
    .select(["id", "display_name", "created_at", "disabled_at", "limits"])
    .select([
      sql<string>`(select count(*) from api_key where account_id = a.id)`.as("api_keys"),
      sql<string>`(select count(*) from client_key where account_id = a.id)`.as("client_keys"),
      sql<string>`(select count(*) from member where account_id = a.id)`.as("members"),
    ])
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    displayName: row.display_name,
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    limits: row.limits,
    keys: Number(row.api_keys) + Number(row.client_keys),
    members: Number(row.members),
  }));
}

/** Creates an empty account. Resolves to its id. */
export async function addAccount(db: Kysely<Tables>, displayName: string): Promise<string> {
  const id = newId();
  await asOperator(db, id, async (trx, record) => {
    await trx.insertInto("account").values({ id, display_name: displayName }).execute();
    await record({
      action: "account.create",
      resource: `accounts/${id}`,
      details: { displayName },
    });
  });
  return id;
}

/** Changes the display name of an account. Returns false if there is no such account. */
export async function renameAccount(
  db: Kysely<Tables>,
  id: string,
  displayName: string,
): Promise<boolean> {
  return await asOperator(db, id, async (trx, record) => {
    const change = trx.updateTable("account").set({ display_name: displayName });
    const row = await change.where("id", "=", id).returning("id").executeTakeFirst();
    if (!row) return false;
    const details = { fields: "displayName" };
    await record({ action: "account.update", resource: `accounts/${id}`, details });
    return true;
  });
}

/**
 * Disables or enables an account. While an account is disabled, its keys and members are refused,
 * and its open streams and sessions end. Returns false if the account does not exist, or already
 * has the requested state.
 */
export async function setDisabled(
  db: Kysely<Tables>,
  id: string,
  isDisabled: boolean,
): Promise<boolean> {
  return await asOperator(db, id, async (trx, record) => {
    const row = await trx
      .updateTable("account")
      .set({ disabled_at: isDisabled ? sql<Date>`now()` : null })
      .where("id", "=", id)
      .where("disabled_at", isDisabled ? "is" : "is not", null)
      .returning("id")
      .executeTakeFirst();
    if (!row) return false;
    const action = isDisabled ? "account.disable" : "account.enable";
    await record({ action, resource: `accounts/${id}` });
    return true;
  });
}
