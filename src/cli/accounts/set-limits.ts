import { setAccountLimits } from "../../accounts/set-account-limits.ts";
import { operatorOf } from "../../auth/audit-log.ts";
import { columns } from "../models/columns.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { accountLimitOptions, givenLimits } from "../operator/limit-options.ts";
import { oneAccount } from "../operator/one-account.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

/** The options of `limits`. The value `default` means the limit in the settings of the service. */
export const limitsOptions = { ...accountLimitOptions, ...jsonOption };

/** Runs `hlust accounts limits ID`: sets the given limits, then shows the account's limits. */
export async function limits(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(limitsOptions, args);
  const [given] = takePositionals(read.positionals, ["ID"]);
  const change = givenLimits(read);
  const { id, limits: set } = await withDatabase(environment, async (db) => {
    const account = await oneAccount(db, given);
    if (Object.keys(change).length === 0) return account;
    const { id } = account;
    return { id, limits: await setAccountLimits(db, operatorOf(id), id, change) };
  });
  if (read.has("json")) {
    writeJson({ name: `accounts/${id}`, limits: set });
    return;
  }
  const rows = Object.entries(set).map(([name, value]) => [
    name,
    value === 0 ? "none" : `${value}`,
  ]);
  process.stdout.write(
    rows.length === 0
      ? `accounts/${id} has the limits of the service's settings\n`
      : `accounts/${id} has, in addition to the limits of the service's settings:\n${columns(rows)}`,
  );
}
