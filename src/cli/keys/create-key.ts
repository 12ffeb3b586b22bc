import { create as createMessage } from "@bufbuild/protobuf";
import { checkKeyLimits } from "../../accounts/key-limits.ts";
import { noLimits } from "../../auth/limits.ts";
import { KeyLimitsSchema } from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { createKey } from "../../operator/keys.ts";
import { Violations } from "../../std/service-error.ts";
import { checkedName } from "../operator/checked-name.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { givenLimits, keyLimitOptions } from "../operator/limit-options.ts";
import { oneAccount } from "../operator/one-account.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { withDatabase } from "../operator/with-database.ts";
import { Arguments } from "../options.ts";
import { readExpiry, readScopes } from "./key-options.ts";

/** The options of `create`. */
export const createOptions = {
  account: { hint: "ID", meaning: "the account of the key; default: the only one" },
  name: { hint: "N", meaning: "display name", fallback: "" },
  scopes: {
    hint: "A,B",
    meaning: "scopes of the key; the scope account is for keys and members",
    fallback: "transcripts.read,transcripts.write,speech",
  },
  expires: { hint: "WHEN", meaning: "2027-01-01 (UTC) or 2027-01-01T12:00:00Z; default: never" },
  ...keyLimitOptions,
  ...jsonOption,
};

/**
 * Runs `hlust keys create`: prints the key, and nothing else, to standard output. The key cannot be
 * shown again.
 */
export async function create(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(createOptions, args);
  takePositionals(read.positionals, []);
  const expires = read.text("expires");
  const wanted = {
    displayName: checkedName(read.text("name") ?? ""),
    scopes: readScopes(read.text("scopes") ?? ""),
    expiresAt: expires === undefined ? null : readExpiry(expires, Date.now()),
    limits: keyLimits(givenLimits(read)),
  };
  const { accountId, key } = await withDatabase(environment, async (db) => {
    const { id: accountId } = await oneAccount(db, read.text("account"));
    return { accountId, key: await createKey(db, { ...wanted, accountId }) };
  });
  const { displayName, scopes, expiresAt } = wanted;
  if (read.has("json")) {
    const account = `accounts/${accountId}`;
    const about = { displayName, scopes, expireTime: expiresAt, limits: JSON.parse(wanted.limits) };
    const apiKey = { name: key.name, account, ...about };
    writeJson({ apiKey, secret: key.secret });
    return;
  }
  const end = expiresAt ? `, until ${expiresAt.toISOString()}` : "";
  process.stderr.write(
    `${key.name} of accounts/${accountId} is created, for ${scopes.join(", ")}${end}. It is shown only once:\n`,
  );
  process.stdout.write(`${key.secret}\n`);
}

/**
 * Returns the limits of a key as JSON for the database. 0 and `default` mean the limit of the
 * account. Throws invalid_argument.
 */
function keyLimits(given: Readonly<Record<string, number | null>>): string {
  const set = Object.entries(given).map(([name, value]) => [name, value ?? 0]);
  const violations = new Violations();
  const asked = createMessage(KeyLimitsSchema, Object.fromEntries(set));
  const limits = checkKeyLimits(asked, noLimits, violations);
  violations.throwIfAny();
  return limits;
}
