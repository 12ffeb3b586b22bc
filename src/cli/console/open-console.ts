import process from "node:process";
import { scopes } from "../../auth/caller.ts";
import type { SessionOwner } from "../../auth/open-session.ts";
import { type Config, readConfig } from "../../config.ts";
import { type KeySummary, listKeys } from "../../operator/keys.ts";
import { createSignInLink } from "../../operator/sign-in-links.ts";
import { reachable } from "../../std/reachable.ts";
import { UsageError } from "../command.ts";
import { didYouMean, nearest } from "../models/nearest-names.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { oneMember } from "../operator/one-member.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { type ServiceDatabase, withDatabase } from "../operator/with-database.ts";
import { Arguments, describeOptions } from "../options.ts";

const options = {
  account: { hint: "ID", meaning: "whose console; where there is one account, that one" },
  member: { hint: "M", meaning: "as this member: an e-mail address, or members/<id>" },
  key: {
    hint: "ID",
    meaning: "with what this API key may do; default: the oldest that may do everything",
  },
  ...jsonOption,
};

const usage = `Usage: hlust console [options]

Prints a link that opens the console of a running service, signed in: once, within 10 minutes. The link is on standard output, and
words on standard error. HLUST_DATA or DATABASE_URL says where the service keeps what it has, HLUST_PUBLIC_URL or HLUST_HOST and
HLUST_PORT where browsers find it.

${describeOptions(options)}`;

/** Whom a link signs in. */
interface Guest {
  readonly owner: SessionOwner;
  /** For the operator. */
  readonly name: string;
}

/** `hlust console`: the link, and nothing else, on standard output. */
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
  process.stderr.write(`This opens the console as ${name}: once, within 10 minutes.\n`);
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
    throw new UsageError("--member and --key exclude each other");
  const publicUrl = publicUrlOf(readConfig(environment));
  return await withDatabase(environment, async (db) => {
    const account = await oneAccount(db, read.text("account"));
    if (account.disabledAt)
      throw new Error(`accounts/${account.id} (${account.displayName}) is disabled`);
    const { owner, name } =
      member === undefined
        ? await guestWithKey(db, account.id, key)
        : await guestAsMember(db, account.id, member);
    return { link: await createSignInLink(db, owner, publicUrl), name };
  });
}

function publicUrlOf({ publicUrl, host, port }: Config): string {
  if (publicUrl !== undefined) return publicUrl;
  if (port === 0) {
    throw new Error("HLUST_PORT is 0: HLUST_PUBLIC_URL with the address of the service is needed");
  }
  const name = host.includes(":") ? `[${host}]` : host;
  return reachable(`http://${name}:${port}`);
}

async function guestAsMember(
  db: ServiceDatabase,
  accountId: string,
  given: string,
): Promise<Guest> {
  const { id, email } = await oneMember(db, accountId, given);
  return { owner: { accountId, memberId: id }, name: `members/${id} (${email})` };
}

async function guestWithKey(
  db: ServiceDatabase,
  accountId: string,
  given: string | undefined,
): Promise<Guest> {
  const all = await listKeys(db, accountId);
  const usable = all.filter(
    ({ name, expiresAt }) =>
      name.startsWith("apiKeys/") && (expiresAt === null || expiresAt.getTime() > Date.now()),
  );
  const tell = ({ name, displayName }: KeySummary): string => `${name} (${displayName})`;
  const found =
    given === undefined
      ? usable.findLast((key) => scopes.every((scope) => key.scopes.includes(scope)))
      : usable.find(({ name, id }) => name === given || id === given);
  if (found) return { owner: { accountId, apiKeyId: found.id }, name: tell(found) };
  if (given === undefined) {
    throw new Error(
      "the account has no API key that may do everything: --member or --key says whom the link signs in",
    );
  }
  const named = usable.map((each) => ({ each, names: [each.id, each.name, each.displayName] }));
  const near = nearest(named, given).map(({ each }) => tell(each));
  throw new Error(`the account has no API key ${JSON.stringify(given)}${didYouMean(near)}`);
}
