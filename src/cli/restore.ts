import { UsageError, type Command } from "./command.ts";
import { takePositionals } from "./operator/take-positionals.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  "as-copy": {
    meaning: "for a second service: disable webhooks, and run no jobs (quarantine)",
  },
} as const;

const usage = `Usage: hlust restore BACKUP [--as-copy]

Restores a backup (\`hlust backup\`), a folder or s3://bucket/prefix/NAME, into the empty place that
HLUST_DATA, DATABASE_URL and S3_BUCKET name, then checks it as \`hlust fsck\` does. A place that is not empty, and a backup that was cut or altered, are
refused before anything is changed.

${describeOptions(options)}
The restored archive continues the old one: stop the old service first, or use --as-copy. Run it as the
user of the service, so that the files belong to that user.

Exits with 0 on success, 1 if the restored archive has flaws, 2 if nothing was restored.
`;

/** The command `hlust restore`, which restores a backup into an empty place. */
export const restore: Command = {
  summary: "restore a backup into an empty place",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      process.stdout.write(usage);
      return 0;
    }
    const { folder, asCopy } = readArguments(args);
    const { readConfig } = await import("../config.ts");
    const config = readConfig(environment);
    const { restoreTo } = await import("./backup/restore-command.ts");
    try {
      return await restoreTo(config, folder, { asCopy });
    } catch (error) {
      process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
      return 2;
    }
  },
};

function readArguments(args: readonly string[]): { folder: string; asCopy: boolean } {
  try {
    const read = new Arguments(options, args);
    const [folder = ""] = takePositionals(read.positionals, ["BACKUP"]);
    return { folder, asCopy: read.has("as-copy") };
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}
