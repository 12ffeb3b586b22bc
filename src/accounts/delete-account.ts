import { sql, type Kysely } from "kysely";
import { audited, operatorOf } from "../auth/audit-log.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";

/**
 * What an account may have so much of that it is deleted in parts, each before what it refers to.
 */
const deletedInParts = [
  // A worker on one of them stops within a second.
  "transcript_job",
  "webhook_delivery",
  "transcript",
  "upload",
  "media",
] as const;
/** Rows that go in one statement: a statement may take 30 s. */
const rowsAtOnce = 500;

/**
 * The operator's way to end an account: with all that it has, but for its audit log. false: there
 * is none such. From its first moment nobody of the account is let in; broken off, it is gone on
 * with by calling it again. Bytes of media are the caller's matter; what no row knows any more is
 * set aside when a service next looks.
 */
export async function deleteAccount(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  accountId: string,
): Promise<boolean> {
  const { db } = parts;
  const disabled = await db
    .updateTable("account")
    .set({ disabled_at: sql<Date>`coalesce(disabled_at, now())` })
    .where("id", "=", accountId)
    .returning("display_name")
    .executeTakeFirst();
  if (!disabled) return false;
  for (const table of deletedInParts) await deleteInParts(db, table, accountId);
  return await audited(parts, operatorOf(accountId), async (trx, record) => {
    const { numDeletedRows } = await trx
      .deleteFrom("account")
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    // Somebody else was faster.
    if (numDeletedRows === 0n) return false;
    const details = { displayName: disabled.display_name };
    await record({ action: "account.delete", resource: `accounts/${accountId}`, details });
    return true;
  });
}

async function deleteInParts(
  db: Kysely<Tables>,
  table: (typeof deletedInParts)[number],
  accountId: string,
): Promise<void> {
  const isOfAccount =
    table === "webhook_delivery"
      ? sql`webhook_id in (select id from webhook where account_id = ${accountId})`
      : sql`account_id = ${accountId}`;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where id in (
        select id from ${sql.table(table)} where ${isOfAccount} limit ${rowsAtOnce})
    `.execute(db);
    if (numAffectedRows < rowsAtOnce) return;
  }
}
