#!/usr/bin/env node
// The command line for a service elsewhere, which the package hlust has: `npx hlust <command>`.
// src/cli is the command line for the machine that runs a service.
import process from "node:process";
import { ConnectError } from "@connectrpc/connect";
import { UsageError, type Command } from "../cli/command.ts";
import { columns } from "../cli/models/columns.ts";
import { BadRequestSchema } from "../gen/google/rpc/error_details_pb.ts";
import { jobs } from "./jobs.ts";
import { listen } from "./listen.ts";
import { login, logout } from "./login.ts";
import { ProfileError } from "./profiles.ts";
import { transcribe } from "./transcribe.ts";
import { transcripts } from "./transcripts.ts";

const commands: Readonly<Record<string, Command>> = {
  login,
  logout,
  transcribe,
  listen,
  jobs,
  transcripts,
  export: {
    summary: "write a transcript to a file; short for transcripts export",
    run: (args, environment) => transcripts.run(["export", ...args], environment),
  },
};

/**
 * Runs a command and returns its exit code: 0 for success, 1 for failure, 2 for invalid arguments
 * or a missing profile.
 */
async function main([name = "help", ...args]: readonly string[]): Promise<number> {
  if (/^(-h|--help|help)$/.test(name)) {
    process.stdout.write(usage());
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (!command) throw new UsageError(`unknown command ${JSON.stringify(name)}`);
    return (await command.run(args, process.env)) ?? 0;
  } catch (error) {
    process.stderr.write(`hlust: ${problemOf(error)}\n`);
    if (error instanceof UsageError) process.stderr.write(`\n${error.usage ?? usage()}`);
    return error instanceof UsageError || error instanceof ProfileError ? 2 : 1;
  }
}

/** Returns what happened, with every field that the service refused. */
function problemOf(error: unknown): string {
  if (!(error instanceof ConnectError))
    return error instanceof Error ? error.message : String(error);
  const violations = error.findDetails(BadRequestSchema).flatMap((one) => one.fieldViolations);
  const lines = violations.map(({ field, description }) => `  ${field}: ${description}`);
  return [error.rawMessage, ...lines].join("\n");
}

function usage(): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [`  ${name}`, summary]);
  return `hlust: transcripts from a Hlust service

Usage: hlust <command> [--help]

${columns(rows)}
HLUST_URL and HLUST_TOKEN are used in place of a profile.
`;
}

process.exitCode = await main(process.argv.slice(2));
