import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * Locks an account until the transaction ends, so that checks of its counts and the inserts that
 * follow them are serialized. Rows that only refer to the account, such as jobs and transcripts,
 * can still be written.
 */
export async function lockAccount(trx: Transaction<Tables>, accountId: string): Promise<void> {
  const account = await trx
    .selectFrom("account")
    .where("id", "=", accountId)
    .select("id")
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!account) throw accountDeleted();
}

/** Returns the error for an account that was deleted after the caller was authenticated. */
export function accountDeleted(): ServiceError {
  return new ServiceError("unauthenticated", "the account was deleted");
}
