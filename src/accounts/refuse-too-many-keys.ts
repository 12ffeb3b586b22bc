import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";
import { lockAccount } from "./lock-account.ts";

/** The maximum number of keys of each kind in an account, since lists return all keys. */
const keysMax = 1000;

/**
 * Throws if the account has the maximum number of keys. Locks the account until the key is
 * committed, so that concurrent calls cannot exceed the limit.
 */
export async function refuseTooManyKeys(
  trx: Transaction<Tables>,
  table: "api_key" | "client_key",
  accountId: string,
): Promise<void> {
  await lockAccount(trx, accountId);
  const { count } = await trx
    .selectFrom(table)
    .select((row) => row.fn.countAll<string>().as("count"))
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  if (Number(count) < keysMax) return;
  throw new ServiceError(
    "resource_exhausted",
    `the account has ${keysMax} keys of this kind: delete one first`,
    { reason: "TOO_MANY_KEYS" },
  );
}
