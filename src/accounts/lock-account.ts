import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * Locks an account until the transaction ends, so that what is counted of it and then added is
 * added by one at a time. Jobs, transcripts and all else that only refers to it go on.
 */
export async function lockAccount(trx: Transaction<Tables>, accountId: string): Promise<void> {
  const account = await trx
    .selectFrom("account")
    .where("id", "=", accountId)
    .select("id")
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!account) throw accountGone();
}

/** Deleted since its caller was looked up. */
export function accountGone(): ServiceError {
  return new ServiceError("unauthenticated", "the account is gone");
}
