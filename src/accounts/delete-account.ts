import { sql, type Kysely } from "kysely";
import { audited, operatorOf } from "../auth/audit-log.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";

/**
 * Tables that can have too many rows of one account for one statement. Their rows are deleted in
 * parts. Each table comes before the tables that it refers to.
 */
const deletedInParts = [
  // A worker that runs one of these jobs stops within a second.
  "transcript_job",
  "alignment_job",
  "webhook_delivery",
  "invitation_mail",
  "vocabulary_phrase",
  "transcript",
  "upload",
  "media",
] as const;
/** The number of rows that are deleted in one statement, which may take 30 s. */
const rowsAtOnce = 500;

/**
 * Deletes an account with all its data except its audit log, for the operator. Returns false if the
 * account does not exist. The account is disabled first; the next call continues an interrupted
 * deletion. The caller deletes the files of the media; a sweep of the service sets aside files
 * without a record.
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
    await trx.deleteFrom("resource_change").where("account_id", "=", accountId).execute();
    const { numDeletedRows } = await trx
      .deleteFrom("account")
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    // Another call has already deleted the account.
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
      : table === "transcript"
        ? sql`(account_id = ${accountId} or bin_account_id = ${accountId})`
        : sql`account_id = ${accountId}`;
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(table)} where id in (
        select id from ${sql.table(table)} where ${isOfAccount} limit ${rowsAtOnce})
    `.execute(db);
    if (numAffectedRows < rowsAtOnce) return;
  }
}
