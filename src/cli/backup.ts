import { backupOptions } from "./backup/backup-options.ts";
import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";
import { takePositionals } from "./operator/take-positionals.ts";

const usage = `Usage: hlust backup TARGET [options]
       hlust backup list TARGET [--json]
       hlust backup verify BACKUP [--json]

Makes a backup in a new folder of TARGET, while the service runs: the database as of one moment, and all
media that it names. Media is linked where that is possible, and read and compared once. HLUST_DATA,
DATABASE_URL and S3_BUCKET name the archive. TARGET can also be a prefix of a bucket, s3://bucket/prefix,
whose store HLUST_BACKUP_S3_ENDPOINT and the like name; its backups share their media.

${describeOptions(backupOptions)}
list shows the backups of a folder, and which of them are whole. verify reads a backup to its end and
names each file that is missing, cut or altered.

A backup contains signing keys, secrets of webhooks and hashes of keys: keep it as safe as the archive.
\`hlust restore\` restores one. Exits with 0 on success, 1 if a backup is not whole, 2 after a failure.
`;

/** The command `hlust backup`, which makes, lists and checks backups. */
export const backup: Command = {
  summary: "back up the archive while the service runs; list and verify backups",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      process.stdout.write(usage);
      return 0;
    }
    try {
      const read = new Arguments(backupOptions, args);
      const [first, ...others] = read.positionals;
      if (first === "list" && others.length > 0) {
        const [target = ""] = takePositionals(others, ["TARGET"]);
        return await (
          await import("./backup/list-command.ts")
        ).listBackups(target, read, environment);
      }
      if (first === "verify" && others.length > 0) {
        const [folder = ""] = takePositionals(others, ["BACKUP"]);
        return await (
          await import("./backup/verify-command.ts")
        ).verifyBackup(folder, read, environment);
      }
      const [target = ""] = takePositionals(read.positionals, ["TARGET"]);
      return await (
        await import("./backup/make-command.ts")
      ).makeBackupOf(target, read, environment);
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(error.message, usage);
      if (error instanceof Error && error.name === "ConfigError") throw error;
      process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
      return 2;
    }
  },
};
