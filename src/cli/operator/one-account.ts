import { type AccountSummary, listAccounts } from "../../operator/accounts.ts";
import { UsageError } from "../command.ts";
import { didYouMean, nearest } from "../models/nearest-names.ts";
import type { ServiceDatabase } from "./with-database.ts";

/**
 * The account of an id, with or without `accounts/` before it; when none is given, the only one
 * that there is.
 */
export async function oneAccount(
  db: ServiceDatabase,
  given: string | undefined,
): Promise<AccountSummary> {
  const accounts = await listAccounts(db);
  const tell = ({ id, displayName }: AccountSummary): string => `${id} (${displayName})`;
  if (given === undefined) {
    const [only, ...others] = accounts;
    if (only && others.length === 0) return only;
    if (!only) throw new Error("there is no account: `hlust accounts add NAME` makes one");
    throw new UsageError(
      `there are ${accounts.length} accounts: --account with the id of one is needed (hlust accounts list)`,
    );
  }
  const id = given.replace(/^accounts\//, "");
  const found = accounts.find((each) => each.id === id);
  if (found) return found;
  const named = accounts.map((each) => ({ each, names: [each.id, each.displayName] }));
  const near = nearest(named, id).map(({ each }) => tell(each));
  throw new Error(`there is no account ${JSON.stringify(given)}${didYouMean(near)}`);
}
