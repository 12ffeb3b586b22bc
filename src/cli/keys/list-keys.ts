import { listKeys } from "../../operator/keys.ts";
import { columns } from "../models/columns.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";
import { keyJson } from "./key-json.ts";

const options = {
  ...jsonOption,
  account: { hint: "ID", meaning: "only keys of this account" },
} as const;

/** Runs `hlust keys list`, for the keys of all accounts or of one account. */
export async function list(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const read = new Arguments(options, args);
  takePositionals(read.positionals, []);
  const given = read.text("account");
  const keys = await withDatabase(environment, async (db) => {
    return await listKeys(db, given === undefined ? undefined : (await oneAccount(db, given)).id);
  });
  if (read.has("json")) {
    writeJson({ keys: keys.map(keyJson) });
    return;
  }
  const rows = keys.map((key) => [
    key.name,
    key.accountId,
    key.displayName,
    key.scopes.join(","),
    key.createdAt.toISOString(),
    key.lastUsedAt?.toISOString() ?? "never",
    key.expiresAt?.toISOString() ?? "never",
  ]);
  const head = ["NAME", "ACCOUNT", "DISPLAY NAME", "SCOPES", "CREATED", "LAST USED", "EXPIRES"];
  process.stdout.write(rows.length === 0 ? "There are no keys.\n" : columns([head, ...rows]));
}
