import { resolve } from "node:path";
import { isBucketUrl } from "../../backup/backup-names.ts";
import { damageOf, makeBackup } from "../../backup/make-backup.ts";
import { modelFacts } from "../../backup/model-facts.ts";
import { readConfig } from "../../config.ts";
import { openArchive } from "../../media/open-archive.ts";
import { megabytes } from "../../models/disk-room.ts";
import type { BackupArguments } from "./backup-options.ts";
import { writeJson } from "../operator/json-option.ts";
import { UsageError } from "../command.ts";
import { BackupDisplay } from "./backup-display.ts";

/** Runs `hlust backup TARGET`. Resolves to the exit code. */
export async function makeBackupOf(
  target: string,
  read: BackupArguments,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const keep =
    read.text("keep") === undefined
      ? undefined
      : read.number("keep", { min: 1, max: 10_000, whole: true });
  const since = read.text("since");
  const isBucket = isBucketUrl(target);
  if (!isBucket && /^[a-z][a-z\d+.-]+:\/\//.test(target)) {
    throw new UsageError(
      `TARGET must be a folder or like s3://bucket/prefix, not ${JSON.stringify(target)}`,
    );
  }
  if (isBucket && since !== undefined) {
    throw new UsageError("--since is for folders: the backups of a bucket share their media");
  }
  const config = readConfig(environment);
  const display = new BackupDisplay(process.stderr);
  await using archive = await openArchive(config);
  const options = {
    keep,
    withMedia: !read.has("no-media"),
    allowsDamage: read.has("allow-damage"),
    models: await modelFacts(config.modelsFolder),
    onProgress: display.show.bind(display),
  };
  const made = isBucket
    ? await (
        await import("../../backup/bucket/make-bucket-backup.ts")
      ).makeBucketBackup(archive, { ...options, target, access: config.backupS3, own: config.s3 })
    : await makeBackup(archive, {
        ...options,
        target: resolve(target),
        since: since === undefined ? undefined : resolve(since),
      });
  display.end();
  const { folder, manifest, sources, deleted } = made;
  const { tables, media, snapshotAt } = manifest;
  if (read.has("json")) {
    writeJson({ folder, snapshotAt, media, sources, deleted });
    return 0;
  }
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const of = media
    ? `${media.count} media of ${megabytes(media.bytes)} (${sources?.reused ?? 0} as before, ${sources?.linked ?? 0} linked, ${sources?.copied ?? 0} copied)`
    : "no media";
  process.stdout.write(`${folder}: whole, as of ${snapshotAt}: ${rows} rows, ${of}.\n`);
  if (media && media.missing.length + media.altered.length > 0) {
    process.stdout.write(`Damaged: ${damageOf(media)}.\n`);
  }
  for (const name of deleted) process.stdout.write(`Deleted the backup ${name} (--keep).\n`);
  process.stdout.write(
    "It contains signing keys, secrets of webhooks and hashes of keys: keep it as safe as the archive.\n",
  );
  return 0;
}
