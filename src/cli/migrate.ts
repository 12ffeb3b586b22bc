import { migrations, OlderSchemaError, openExistingDatabase } from "../database/open-existing.ts";
import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  check: { meaning: "change nothing: show what is missing" },
  "dry-run": {
    meaning:
      "change nothing: show what would be applied, which calls wait meanwhile, and which versions can run on it",
  },
} as const;

const usage = `Usage: hlust migrate [--check | --dry-run]

Migrates the database to the schema of this version, as the service does when it starts. Use it with a role
that may change the schema, if the role of the service may not. Nodes of the versions that --dry-run
names keep running, and can be started again.

${describeOptions(options)}
Exits with 0 if the schema is up to date, 1 if --check finds that it is not, 2 if the migration failed
or the database needs a newer version. --dry-run exits with 0 or 2.
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
    const read = readArguments(args);
    const isDry = read.has("dry-run");
    const changesNothing = isDry || read.has("check");
    const { readConfig } = await import("../config.ts");
    const config = readConfig(environment);
    try {
      await using database = await openExistingDatabase(config, {
        schema: changesNothing ? "check" : "migrate",
      });
      print("applied", database.migrated);
      return 0;
    } catch (error) {
      if (error instanceof OlderSchemaError && isDry) {
        process.stdout.write(planOf(error.missing));
        return 0;
      }
      if (error instanceof OlderSchemaError && changesNothing) {
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

/** Returns what a migration would do, for the operator. */
function planOf(missing: readonly string[]): string {
  const lines = missing.map((name) => {
    const { locks = {}, oldestProgram = "" } = migrations[name] ?? {};
    const tables = Object.entries(locks).map(([table, lock]) => `${table} (${waiting[lock]})`);
    const wait = tables.length > 0 ? `locks ${tables.join(", ")}` : "locks no existing table";
    return `would apply ${name}: ${wait}; versions from ${oldestProgram} on can run on it\n`;
  });
  return `${lines.join("")}All of it is one transaction. Calls wait only from the lock of their table to the end of the transaction.
If a table is in use for 5 s, the migration lets the calls that wait pass, and tries again.
`;
}

const waiting = { writes: "writes wait", calls: "reads and writes wait" } as const;
