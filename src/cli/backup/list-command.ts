import { resolve } from "node:path";
import { readManifest, type Manifest } from "../../backup/backup-format.ts";
import { findBackups } from "../../backup/backup-folder.ts";
import { megabytes } from "../../models/disk-room.ts";
import type { BackupArguments } from "./backup-options.ts";
import { isBucketUrl } from "../../backup/backup-names.ts";
import { readConfig } from "../../config.ts";
import { columns } from "../models/columns.ts";
import { writeJson } from "../operator/json-option.ts";

/** Runs `hlust backup list TARGET`. Resolves to 1 if none of the backups is whole. */
export async function listBackups(
  target: string,
  read: BackupArguments,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const rows = isBucketUrl(target)
    ? await rowsInBucket(target, environment)
    : await rowsInFolder(resolve(target));
  if (read.has("json")) {
    writeJson(
      rows.map(({ name, isWhole, manifest }) => ({
        name,
        isWhole,
        ...(manifest && { snapshotAt: manifest.snapshotAt, hlust: manifest.hlust }),
        ...(manifest && { media: manifest.media }),
      })),
    );
  } else if (rows.length === 0) process.stdout.write(`There are no backups in ${target}.\n`);
  else {
    const lines = rows.map(({ name, manifest }) => {
      if (!manifest) return [name, "not whole: it was interrupted, or is being made"];
      const { hlust, media } = manifest;
      const of = media ? `${media.count} media of ${megabytes(media.bytes)}` : "no media";
      return [name, `whole, by Hlust ${hlust}, ${of}`];
    });
    process.stdout.write(columns(lines));
  }
  return rows.some(({ isWhole }) => isWhole) ? 0 : 1;
}

interface Row {
  readonly name: string;
  readonly isWhole: boolean;
  /** undefined if the backup is not whole. */
  readonly manifest: Manifest | undefined;
}

async function rowsInFolder(target: string): Promise<readonly Row[]> {
  const found = await findBackups(target);
  return await Promise.all(
    found.map(async ({ name, folder, isWhole }) => {
      const manifest = isWhole ? await readManifest(folder) : undefined;
      return { name, isWhole, manifest };
    }),
  );
}

async function rowsInBucket(
  target: string,
  environment: NodeJS.ProcessEnv,
): Promise<readonly Row[]> {
  const { listBucket } = await import("../../backup/bucket/fetched-backup.ts");
  const { backupS3: access } = readConfig(environment);
  return await listBucket(target, access);
}
