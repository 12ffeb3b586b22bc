import { type AccountSummary, listAccounts } from "../../operator/accounts.ts";
import { UsageError } from "../command.ts";
import { didYouMean, nearest } from "../nearest-names.ts";
import type { ServiceDatabase } from "./with-database.ts";

/**
 * Returns the account with an id, with or without the prefix `accounts/`. Without an id, returns
 * the only account.
 */
export async function oneAccount(
  db: ServiceDatabase,
  given: string | undefined,
): Promise<AccountSummary> {
  const accounts = await listAccounts(db);
  const describe = ({ id, displayName }: AccountSummary): string => `${id} (${displayName})`;
  if (given === undefined) {
    const [only, ...others] = accounts;
    if (only && others.length === 0) return only;
    if (!only) throw new Error("there is no account: `hlust accounts add NAME` creates one");
    throw new UsageError(
      `there are ${accounts.length} accounts: choose one with --account ID (see hlust accounts list)`,
    );
  }
  const id = given.replace(/^accounts\//, "");
  const found = accounts.find((each) => each.id === id);
  if (found) return found;
  const named = accounts.map((each) => ({ each, names: [each.id, each.displayName] }));
  const near = nearest(named, id).map(({ each }) => describe(each));
  throw new Error(`there is no account ${JSON.stringify(given)}${didYouMean(near)}`);
}
