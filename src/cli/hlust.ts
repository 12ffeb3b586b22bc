// The command line: `hlust <command>`. Each command is a file of this folder.
import { readFileSync } from "node:fs";
import process from "node:process";
import { ConfigError } from "../config.ts";

interface Command {
  readonly summary: string;
  readonly run: (args: readonly string[]) => Promise<void>;
}

const commands: Readonly<Record<string, Command>> = {
  serve: {
    summary: "run the service; settings come from the environment",
    run: async () => (await import("../main.ts")).serve(process.env),
  },
  config: {
    summary: "show every setting with its meaning, value and default",
    run: async () => {
      const { describeConfig } = await import("../config.ts");
      process.stdout.write(describeConfig(process.env));
    },
  },
  version: {
    summary: "show the version",
    run: () => {
      process.stdout.write(`hlust ${version()}, Node ${process.versions.node}\n`);
      return Promise.resolve();
    },
  },
  help: {
    summary: "show this",
    run: () => {
      process.stdout.write(usage());
      return Promise.resolve();
    },
  },
};

/** Exit codes: 0 done, 1 failed, 2 not understood. */
async function main([name = "help", ...args]: readonly string[]): Promise<void> {
  const command = Object.hasOwn(commands, plain(name)) ? commands[plain(name)] : undefined;
  if (!command || args.length > 0) {
    const what = command
      ? `unexpected ${JSON.stringify(args[0])}`
      : `no command ${JSON.stringify(name)}`;
    process.stderr.write(`hlust: ${what}\n\n${usage()}`);
    process.exitCode = 2;
    return;
  }
  try {
    await command.run(args);
  } catch (error) {
    const isConfig = error instanceof ConfigError;
    process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
    if (isConfig) process.stderr.write("Run `hlust config` for the settings.\n");
    process.exitCode = isConfig ? 2 : 1;
  }
}

/** `--help` and `-h` mean help. */
function plain(name: string): string {
  const bare = name.replace(/^-+/, "");
  return { h: "help", v: "version" }[bare] ?? bare;
}

function usage(): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(10)}${summary}`,
  );
  return `hlust: speech to text that you run yourself\n\nUsage: hlust <command>\n\n${lines.join("\n")}\n`;
}

function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const isManifest = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return isManifest ? String(manifest.version) : "unknown";
}

await main(process.argv.slice(2));
