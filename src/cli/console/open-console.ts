import process from "node:process";
import { accountScopes } from "../../auth/caller.ts";
import type { SessionOwner } from "../../auth/open-session.ts";
import { type Config, readConfig } from "../../config.ts";
import { type KeySummary, listKeys } from "../../operator/keys.ts";
import { createSignInLink } from "../../operator/sign-in-links.ts";
import { reachable } from "../../std/reachable.ts";
import { UsageError } from "../command.ts";
import { didYouMean, nearest } from "../nearest-names.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { oneMember } from "../operator/one-member.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { type ServiceDatabase, withDatabase } from "../operator/with-database.ts";
import { Arguments, describeOptions } from "../options.ts";

const options = {
  account: { hint: "ID", meaning: "the account; default: the only one" },
  member: { hint: "M", meaning: "sign in as this member: an e-mail address, or members/<id>" },
  key: {
    hint: "ID",
    meaning:
      "sign in with the scopes of this API key; default: the oldest with every scope of an account",
  },
  ...jsonOption,
};

const usage = `Usage: hlust console [options]

Prints a link that signs in to the console of a running service: once, within 10 minutes. The link is
printed to standard output, all other text to standard error. HLUST_DATA or DATABASE_URL names the
service's database; HLUST_PUBLIC_URL, or HLUST_HOST and HLUST_PORT, its address for browsers.

${describeOptions(options)}`;

/** The user who is signed in by a link. */
interface SignedIn {
  readonly owner: SessionOwner;
  /** The name that is shown to the operator. */
  readonly name: string;
}

/** Runs `hlust console`: prints the link, and nothing else, to standard output. */
export async function openConsole(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  if (args.some((argument) => /^(-h|--help|help)$/.test(argument))) {
    process.stdout.write(usage);
    return;
  }
  const { link, name } = await makeLink(args, environment).catch((error: unknown) => {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  });
  if (args.includes("--json")) {
    writeJson({ link, name });
    return;
  }
  process.stderr.write(`This link opens the console as ${name}: once, within 10 minutes.\n`);
  process.stdout.write(`${link}\n`);
}

async function makeLink(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly link: string; readonly name: string }> {
  const read = new Arguments(options, args);
  takePositionals(read.positionals, []);
  const [member, key] = [read.text("member"), read.text("key")];
  if (member !== undefined && key !== undefined)
    throw new UsageError("--member and --key cannot be combined");
  const publicUrl = publicUrlOf(readConfig(environment));
  return await withDatabase(environment, async (db) => {
    const account = await oneAccount(db, read.text("account"));
    if (account.disabledAt)
      throw new Error(`accounts/${account.id} (${account.displayName}) is disabled`);
    const { owner, name } =
      member === undefined
        ? await signInWithKey(db, account.id, key)
        : await signInAsMember(db, account.id, member);
    return { link: await createSignInLink(db, owner, publicUrl), name };
  });
}

function publicUrlOf({ publicUrl, host, port }: Config): string {
  if (publicUrl !== undefined) return publicUrl;
  if (port === 0) {
    throw new Error("HLUST_PORT is 0: set HLUST_PUBLIC_URL to the address of the service");
  }
  const name = host.includes(":") ? `[${host}]` : host;
  return reachable(`http://${name}:${port}`);
}

async function signInAsMember(
  db: ServiceDatabase,
  accountId: string,
  given: string,
): Promise<SignedIn> {
  const { id, email } = await oneMember(db, accountId, given);
  return { owner: { accountId, memberId: id }, name: `members/${id} (${email})` };
}

async function signInWithKey(
  db: ServiceDatabase,
  accountId: string,
  given: string | undefined,
): Promise<SignedIn> {
  const all = await listKeys(db, accountId);
  const usable = all.filter(
    ({ name, expiresAt }) =>
      name.startsWith("apiKeys/") && (expiresAt === null || expiresAt.getTime() > Date.now()),
  );
  const describe = ({ name, displayName }: KeySummary): string => `${name} (${displayName})`;
  const found =
    given === undefined
      ? usable.findLast((key) => accountScopes.every((scope) => key.scopes.includes(scope)))
      : usable.find(({ name, id }) => name === given || id === given);
  if (found) return { owner: { accountId, apiKeyId: found.id }, name: describe(found) };
  if (given === undefined) {
    throw new Error("the account has no API key with every scope: choose with --member or --key");
  }
  const named = usable.map((each) => ({ each, names: [each.id, each.name, each.displayName] }));
  const near = nearest(named, given).map(({ each }) => describe(each));
  throw new Error(`the account has no API key ${JSON.stringify(given)}${didYouMean(near)}`);
}
