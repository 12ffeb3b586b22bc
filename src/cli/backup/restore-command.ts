import { resolve } from "node:path";
import { isBucketUrl } from "../../backup/backup-names.ts";
import { damageOf } from "../../backup/make-backup.ts";
import { restoreBackup, type Restored } from "../../backup/restore-backup.ts";
import type { Config } from "../../config.ts";
import { megabytes } from "../../models/disk-room.ts";
import { checkAndReport } from "../fsck.ts";
import { BackupDisplay } from "./backup-display.ts";

/** Restores a backup, reports what was restored, and checks the archive. */
export async function restoreTo(
  config: Config,
  folder: string,
  { asCopy }: { readonly asCopy: boolean },
): Promise<number> {
  const display = new BackupDisplay(process.stderr);
  const onProgress = display.show.bind(display);
  const options = { asCopy, onProgress };
  const restored = isBucketUrl(folder)
    ? await (
        await import("../../backup/bucket/fetched-backup.ts")
      ).withFetched(folder, { access: config.backupS3, own: config.s3 }, (fetched) =>
        restoreBackup(fetched.folder, config, { ...options, media: fetched.media }),
      )
    : await restoreBackup(resolve(folder), config, options);
  display.end();
  process.stdout.write(wordsOf(restored, asCopy));
  // The media was read before it was restored.
  return await checkAndReport(config, { readsMedia: false });
}

function wordsOf(restored: Restored, asCopy: boolean): string {
  const { manifest, migrated, jobs, deliveries, archiveId } = restored;
  const { media, tables, models } = manifest;
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const of = media ? `${media.count} media of ${megabytes(media.bytes)}` : "no media";
  const lines = [
    `Restored the archive as of ${manifest.snapshotAt}, by Hlust ${manifest.hlust}: ${rows} rows, ${of}.`,
    archiveId === undefined
      ? "No service had started on it."
      : asCopy
        ? `It is a copy with the id ${archiveId}, in quarantine: webhooks are disabled, and no jobs run.`
        : `It is the archive ${archiveId}, and continues here: the old service must not run any more.`,
    migrated.length > 0 && `Migrated: ${migrated.join(", ")}.`,
    jobs > 0 && `${jobs} unfinished jobs are queued again.`,
    deliveries > 0 && `${deliveries} messages to webhooks are sent, perhaps a second time.`,
    media && media.missing.length + media.altered.length > 0 && `Damaged: ${damageOf(media)}.`,
    models.length > 0 &&
      `Install the models: ${models.map(({ name, version }) => `${name} (${version})`).join(", ")}.`,
    "People sign in to the console again.",
  ];
  return lines
    .filter((line) => typeof line === "string")
    .map((line) => `${line}\n`)
    .join("");
}
