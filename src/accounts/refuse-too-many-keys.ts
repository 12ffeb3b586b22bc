import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";
import { lockAccount } from "./lock-account.ts";

/** Keys of one kind that an account may have: lists answer them all. */
const keysMax = 1000;

/**
 * Two that make keys at once are not one too many: the account is locked until the key is there.
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
