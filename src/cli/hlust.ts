// The command line: `hlust <command>`. Each command has its own file in this folder.
import process from "node:process";
import { ConfigError } from "../config.ts";
import { accounts } from "./accounts.ts";
import { archive } from "./archive.ts";
import { backup } from "./backup.ts";
import { bench } from "./bench.ts";
import { refuseArguments, UsageError, type Command } from "./command.ts";
import { config } from "./config.ts";
import { console } from "./console.ts";
import { evaluate } from "./evaluate.ts";
import { fsck } from "./fsck.ts";
import { healthcheck } from "./healthcheck.ts";
import { keys } from "./keys.ts";
import { migrate } from "./migrate.ts";
import { models } from "./models.ts";
import { plan } from "./plan.ts";
import { restore } from "./restore.ts";
import { serve } from "./serve.ts";
import { version } from "./version.ts";

const help: Command = {
  summary: "show this",
  run(args) {
    refuseArguments(args);
    process.stdout.write(usage());
    return Promise.resolve(undefined);
  },
};

const commands: Readonly<Record<string, Command>> = {
  serve,
  migrate,
  console,
  config,
  models,
  evaluate,
  plan,
  accounts,
  keys,
  archive,
  backup,
  restore,
  fsck,
  bench,
  healthcheck,
  version,
  help,
};

/**
 * Runs a command and returns its exit code: 0 for success, 1 for failure, 2 for invalid arguments
 * or settings.
 */
async function main([name = "help", ...args]: readonly string[]): Promise<number> {
  const command = Object.hasOwn(commands, plain(name)) ? commands[plain(name)] : undefined;
  try {
    if (!command) throw new UsageError(`unknown command ${JSON.stringify(name)}`);
    return (await command.run(args, process.env)) ?? 0;
  } catch (error) {
    process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${error.usage ?? usage()}`);
    if (error instanceof ConfigError) {
      process.stderr.write("Run `hlust config` for the settings.\n");
    }
    return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
  }
}

/** Returns the name of a command. `--help` and `-h` mean help. */
function plain(name: string): string {
  const bare = name.replace(/^-+/, "");
  return { h: "help", v: "version" }[bare] ?? bare;
}

function usage(): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(13)}${summary}`,
  );
  return `hlust: speech to text that you run yourself\n\nUsage: hlust <command>\n\n${lines.join("\n")}\n`;
}

process.exitCode = await main(process.argv.slice(2));
// This is a last resort, since open handles must not keep a finished command running.
setTimeout(() => process.exit(), 1_000).unref();
