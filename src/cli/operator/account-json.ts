import type { AccountSummary } from "../../operator/accounts.ts";

/** Returns an account as JSON, with the field names of the API. */
export function accountJson(account: AccountSummary) {
  return {
    name: `accounts/${account.id}`,
    displayName: account.displayName,
    creationTime: account.createdAt,
    disabledTime: account.disabledAt,
    limits: account.limits,
    keys: account.keys,
    members: account.members,
  };
}
