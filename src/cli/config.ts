import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  check: { meaning: "check the settings and the files that they name, and show every problem" },
} as const;

const usage = `Usage: hlust config [--check]

Shows every setting with its meaning, its value and its default, and where the value was given: in the
environment, in a file of a secret (NAME_FILE), or in the file that HLUST_CONFIG names.

${describeOptions(options)}
Exits with 0 if the settings are valid, 1 if --check finds problems, 2 if they are invalid.
`;

export const config: Command = {
  summary: "show every setting with its meaning, value and default, or check them",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      process.stdout.write(usage);
      return 0;
    }
    if (readArguments(args).has("check")) return await check(environment);
    const { readConfig } = await import("../config.ts");
    const { describeSettings } = await import("../settings/describe-settings.ts");
    readConfig(environment);
    process.stdout.write(describeSettings(environment));
    return 0;
  },
};

function readArguments(args: readonly string[]): Arguments<typeof options> {
  try {
    const given = new Arguments(options, args);
    if (given.positionals.length === 0) return given;
    throw new UsageError(`unexpected argument ${JSON.stringify(given.positionals[0])}`);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), usage);
  }
}

async function check(environment: NodeJS.ProcessEnv): Promise<number> {
  const { checkConfig } = await import("../check-config.ts");
  const { problems, certificateExpiresAt } = await checkConfig(environment);
  for (const problem of problems) process.stderr.write(`hlust: ${problem}\n`);
  if (problems.length > 0) return 1;
  process.stdout.write("the settings are valid\n");
  if (certificateExpiresAt) {
    process.stdout.write(`the certificate expires at ${certificateExpiresAt.toISOString()}\n`);
  }
  return 0;
}
