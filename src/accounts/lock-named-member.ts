import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { idIn } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { lockAccount } from "./lock-account.ts";
import { lockMember, type StoredMember } from "./member-store.ts";

/**
 * Returns the member that a request names. Locks it, and the account before it, until the
 * transaction ends. Throws ServiceError (NOT_FOUND) if the account has no such member: a member of
 * another account is treated as nonexistent.
 */
export async function lockNamedMember(
  trx: Transaction<Tables>,
  accountId: string,
  name: string,
): Promise<StoredMember> {
  await lockAccount(trx, accountId);
  const id = idIn("members", name);
  const member = id === undefined ? undefined : await lockMember(trx, accountId, id);
  if (!member) throw new ServiceError("not_found", `there is no ${shown(name)}`);
  return member;
}
