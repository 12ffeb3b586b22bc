import type { Kysely, Transaction } from "kysely";
import { audited, operatorOf, type Act } from "../auth/audit-log.ts";
import type { Tables } from "../database/tables.ts";
import { createLog } from "../std/log.ts";

/**
 * Changes an account from the command line, and records the change in the account's audit log in
 * the same commit.
 */
export async function asOperator<Done>(
  db: Kysely<Tables>,
  accountId: string,
  work: (trx: Transaction<Tables>, record: (act: Act) => Promise<void>) => Promise<Done>,
): Promise<Done> {
  return await audited({ db, log: createLog("silent") }, operatorOf(accountId), work);
}
