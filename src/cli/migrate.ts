import { OlderSchemaError, openExistingDatabase } from "../database/open-existing.ts";
import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  check: { meaning: "change nothing: tell what is missing" },
} as const;

const usage = `Usage: hlust migrate [--check]

Brings the database to the schema of this version, as the service does at its start: for a role that may change it, before the service
starts with one that may not. Older nodes that run meanwhile go on.

${describeOptions(options)}
It ends with 0 where nothing is missing (any more), 1 where --check finds something missing, 2 where it could not be done.
`;

/** `hlust migrate`: changes the schema of the database, which no other command but `serve` does. */
export const migrate: Command = {
  summary: "bring the database to the schema of this version, as serve does at its start",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      process.stdout.write(usage);
      return 0;
    }
    const isCheck = readArguments(args).has("check");
    const { readConfig } = await import("../config.ts");
    const config = readConfig(environment);
    try {
      await using database = await openExistingDatabase(config, {
        schema: isCheck ? "check" : "migrate",
      });
      tell("applied", database.migrated);
      return 0;
    } catch (error) {
      if (error instanceof OlderSchemaError && isCheck) {
        tell("missing", error.missing);
        return 1;
      }
      process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
      return 2;
    }
  },
};

function readArguments(args: readonly string[]): Arguments<typeof options> {
  try {
    const read = new Arguments(options, args);
    if (read.positionals.length === 0) return read;
    throw new UsageError(`unexpected ${JSON.stringify(read.positionals[0])}`);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}

function tell(what: "applied" | "missing", names: readonly string[]): void {
  const lines = names.map((name) => `${what} ${name}\n`);
  process.stdout.write(lines.length > 0 ? lines.join("") : "The schema is that of this version.\n");
}
