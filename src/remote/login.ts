import process from "node:process";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { UsageError, type Command } from "../cli/command.ts";
import { Arguments, describeOptions } from "../cli/options.ts";
import { createHlustClient } from "../client/hlust-client.ts";
import { profileOptions } from "./connect.ts";
import { checkedUrl, saveProfile } from "./profiles.ts";

const usage = `Usage: hlust login URL [options]

Asks for an API key of the service, which the page Keys of its console makes, and keeps it in a
file that only you can read. A key on standard input is taken without a question.

${describeOptions(profileOptions)}`;

export const login: Command = {
  summary: "save the address of a service and a key",
  async run(args, environment) {
    const options = new Arguments(profileOptions, args);
    const [address, ...others] = options.positionals;
    if (address === undefined || others.length > 0) {
      throw new UsageError("name the URL of the service", usage);
    }
    const url = checkedUrl(address);
    const token = (await askForKey()).trim();
    if (token === "") throw new UsageError("no key was given", usage);
    const { displayName, account } = await createHlustClient({ url, token }).accounts.getCaller({});
    const file = saveProfile(options.text("profile"), { url, token }, environment);
    process.stdout.write(`Logged in as ${displayName || account}. The key is in ${file}\n`);
    return 0;
  },
};

export const logout: Command = {
  summary: "forget the address and the key",
  run(args, environment) {
    const options = new Arguments(profileOptions, args);
    const file = saveProfile(options.text("profile"), undefined, environment);
    process.stdout.write(`The key is no longer in ${file}. It stays valid until it is revoked.\n`);
    return Promise.resolve(0);
  },
};

/** Reads a line of standard input. On a terminal it asks, and does not show what is typed. */
async function askForKey(): Promise<string> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stderr.write("API key: ");
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
    return "";
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write("\n");
  }
}
