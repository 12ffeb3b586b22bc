import { listAccounts } from "../../operator/accounts.ts";
import { columns } from "../models/columns.ts";
import { accountJson } from "../operator/account-json.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

/** Runs `hlust accounts list`. */
export async function list(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const read = new Arguments(jsonOption, args);
  takePositionals(read.positionals, []);
  const accounts = await withDatabase(environment, listAccounts);
  if (read.has("json")) {
    writeJson({ accounts: accounts.map(accountJson) });
    return;
  }
  const rows = accounts.map(({ id, displayName, keys, members, createdAt, disabledAt }) => [
    id,
    displayName,
    `${keys}`,
    `${members}`,
    createdAt.toISOString(),
    disabledAt ? `disabled ${disabledAt.toISOString()}` : "",
  ]);
  const head = ["ID", "NAME", "KEYS", "MEMBERS", "CREATED", ""];
  process.stdout.write(rows.length === 0 ? "There are no accounts.\n" : columns([head, ...rows]));
}
