import { OlderSchemaError, openExistingDatabase } from "../database/open-existing.ts";
import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  check: { meaning: "change nothing: show what is missing" },
} as const;

const usage = `Usage: hlust migrate [--check]

Migrates the database to the schema of this version, as the service does when it starts. Use it with a role
that may change the schema, if the role of the service may not. Older nodes keep running.

${describeOptions(options)}
Exits with 0 if the schema is up to date, 1 if --check finds that it is not, 2 if the migration failed.
`;

/**
 * The command `hlust migrate`, which changes the schema of the database. Apart from `serve`, no
 * other command does so.
 */
export const migrate: Command = {
  summary: "migrate the database to the schema of this version, as serve does when it starts",
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
      print("applied", database.migrated);
      return 0;
    } catch (error) {
      if (error instanceof OlderSchemaError && isCheck) {
        print("missing", error.missing);
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
    throw new UsageError(`unexpected argument ${JSON.stringify(read.positionals[0])}`);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}

function print(what: "applied" | "missing", names: readonly string[]): void {
  const lines = names.map((name) => `${what} ${name}\n`);
  process.stdout.write(lines.length > 0 ? lines.join("") : "The schema is up to date.\n");
}
