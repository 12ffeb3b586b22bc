import { accountScopes } from "../../auth/caller.ts";
import { addAccount } from "../../operator/accounts.ts";
import { createKey } from "../../operator/keys.ts";
import { checkedName } from "../operator/checked-name.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

const options = {
  ...jsonOption,
  key: { meaning: "also create an API key with every scope of an account" },
} as const;

/**
 * Runs `hlust accounts add NAME`: prints the id of the account to standard output, or with --key
 * only the key.
 */
export async function add(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const read = new Arguments(options, args);
  const [given = ""] = takePositionals(read.positionals, ["NAME"]);
  const displayName = checkedName(given);
  const { id, key } = await withDatabase(environment, async (db) => {
    const id = await addAccount(db, displayName);
    if (!read.has("key")) return { id, key: undefined };
    const wanted = {
      accountId: id,
      displayName: "First key",
      scopes: accountScopes,
      expiresAt: null,
      limits: "{}",
    };
    return { id, key: await createKey(db, wanted) };
  });
  if (read.has("json")) {
    const apiKey = key && { apiKey: { name: key.name }, secret: key.secret };
    writeJson({ name: `accounts/${id}`, displayName, ...apiKey });
    return;
  }
  process.stderr.write(
    key
      ? `accounts/${id} and ${key.name} are created. The key is shown only once:\n`
      : `accounts/${id} is created\n`,
  );
  process.stdout.write(`${key ? key.secret : id}\n`);
}
