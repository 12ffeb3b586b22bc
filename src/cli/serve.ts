import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  quarantine: {
    meaning: "answer calls, but run no jobs, send no webhooks, and neither sweep nor delete",
  },
} as const;

const usage = `Usage: hlust serve [--quarantine]

${describeOptions(options)}
A service whose archive is a copy starts in quarantine by itself: \`hlust archive show\` shows why,
\`hlust archive release\` ends the quarantine.
`;

export const serve: Command = {
  summary: "run the service; settings come from the environment",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      process.stdout.write(usage);
      return 0;
    }
    const isQuarantined = readArguments(args).has("quarantine");
    await (await import("../main.ts")).serve(environment, { isQuarantined });
    return undefined;
  },
};

function readArguments(args: readonly string[]): Arguments<typeof options> {
  const read = new Arguments(options, args);
  if (read.positionals.length === 0) return read;
  throw new UsageError(`unexpected argument ${JSON.stringify(read.positionals[0])}`);
}
