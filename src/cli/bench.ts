import { UsageError, type Command } from "./command.ts";

interface Subcommand {
  readonly summary: string;
  readonly run: (args: readonly string[], environment: NodeJS.ProcessEnv) => Promise<number>;
}

const subcommands: Readonly<Record<string, Subcommand>> = {
  stream: {
    summary: "live streams in real time: lag, losses, the server's CPU and memory",
    run: async (...call) => (await import("./bench/stream-command.ts")).benchStream(...call),
  },
  recognize: {
    summary: "short recordings, several at a time: time to the answer",
    run: async (...call) => (await import("./bench/recognize-command.ts")).benchRecognize(...call),
  },
  jobs: {
    summary: "transcript jobs, several at a time: time to the transcript",
    run: async (...call) => (await import("./bench/jobs-command.ts")).benchJobs(...call),
  },
};

export const bench: Command = {
  summary: "load test a server of this API",
  async run([name, ...args], environment) {
    if (name === undefined || /^(-h|(--)?help)$/.test(name)) {
      process.stdout.write(usage());
      return 0;
    }
    const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    if (subcommand) return await subcommand.run(args, environment);
    throw new UsageError(`unknown benchmark ${JSON.stringify(name)}`, usage());
  },
};

function usage(): string {
  const lines = Object.entries(subcommands).map(
    ([name, { summary }]) => `  ${name.padEnd(12)}${summary}\n`,
  );
  return `Usage: hlust bench <what> [options]\n\n${lines.join("")}\n\`hlust bench <what> --help\` has the options.\n`;
}
