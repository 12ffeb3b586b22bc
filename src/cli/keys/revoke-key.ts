import { listKeys, revokeKey } from "../../operator/keys.ts";
import { didYouMean, nearest } from "../nearest-names.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";

/**
 * Runs `hlust keys revoke ID`: revokes an API key or a client key. Every node refuses the key
 * within a second.
 */
export async function revoke(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(jsonOption, args);
  const [given = ""] = takePositionals(read.positionals, ["ID"]);
  const { name, displayName } = await withDatabase(environment, async (db) => {
    const keys = await listKeys(db);
    const key = keys.find((each) => each.id === given || each.name === given);
    if (key && (await revokeKey(db, key))) return key;
    const named = keys.map((each) => ({ each, names: [each.id, each.name, each.displayName] }));
    const near = nearest(named, given).map(({ each }) => `${each.name} (${each.displayName})`);
    throw new Error(`there is no key ${JSON.stringify(given)}${didYouMean(near)}`);
  });
  if (read.has("json")) writeJson({ name, displayName, isRevoked: true });
  else process.stdout.write(`${name} (${displayName}) is revoked\n`);
}
