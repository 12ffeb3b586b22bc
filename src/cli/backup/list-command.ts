import { resolve } from "node:path";
import { readManifest } from "../../backup/backup-format.ts";
import { findBackups } from "../../backup/backup-folder.ts";
import { megabytes } from "../../models/disk-room.ts";
import type { BackupArguments } from "./backup-options.ts";
import { columns } from "../models/columns.ts";
import { writeJson } from "../operator/json-option.ts";

/** Runs `hlust backup list TARGET`. Resolves to 1 if none of the backups is whole. */
export async function listBackups(target: string, read: BackupArguments): Promise<number> {
  const found = await findBackups(resolve(target));
  const rows = await Promise.all(
    found.map(async ({ name, folder, isWhole }) => {
      const manifest = isWhole ? await readManifest(folder) : undefined;
      return { name, isWhole, manifest };
    }),
  );
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
