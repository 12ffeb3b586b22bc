import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * Locks an account until the transaction ends, so that checks of its counts and the inserts after
 * them are serialized. Jobs, transcripts and others that only refer to it are not blocked.
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

/** Deleted since the caller was authenticated. */
export function accountDeleted(): ServiceError {
  return new ServiceError("unauthenticated", "the account was deleted");
}
