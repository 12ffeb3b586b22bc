import { renameAccount, setDisabled } from "../../operator/accounts.ts";
import { accountJson } from "../operator/account-json.ts";
import { checkedName } from "../operator/checked-name.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

/** Runs `hlust accounts rename ID NAME`. */
export async function rename(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const [given, wanted = ""] = takePositionals(read.positionals, ["ID", "NAME"]);
  const displayName = checkedName(wanted);
  const account = await withDatabase(environment, async (db) => {
    const { id } = await oneAccount(db, given);
    await renameAccount(db, id, displayName);
    return await oneAccount(db, id);
  });
  if (read.has("json")) writeJson(accountJson(account));
  else process.stdout.write(`accounts/${account.id} is now named ${account.displayName}\n`);
}

/** Runs `hlust accounts disable ID` or `enable ID`; both are idempotent. */
export async function disableOrEnable(
  isDisabled: boolean,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const [given] = takePositionals(read.positionals, ["ID"]);
  const account = await withDatabase(environment, async (db) => {
    const { id } = await oneAccount(db, given);
    await setDisabled(db, id, isDisabled);
    return await oneAccount(db, id);
  });
  if (read.has("json")) writeJson(accountJson(account));
  else {
    const state = isDisabled ? "disabled: its keys and members are refused" : "enabled";
    process.stdout.write(`accounts/${account.id} (${account.displayName}) is ${state}\n`);
  }
}
