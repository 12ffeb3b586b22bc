import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ArchivePlace } from "./archive-row.ts";
import type { DatabaseSettings } from "../database/open-existing.ts";
import type { MediaStoreSettings } from "./open-media-store.ts";

/** The settings that define the locations of the database and the media. */
export interface ArchiveSettings extends MediaStoreSettings, DatabaseSettings {}

/**
 * Returns the place of the archive according to the settings. A later start compares it with its
 * own. The service's own database must already exist.
 */
export async function placeOf(settings: ArchiveSettings): Promise<ArchivePlace> {
  const { s3, database, dataFolder } = settings;
  return {
    store: s3 ? `s3:${s3.bucket}/${s3.prefix}` : "disk",
    folder: database.url === undefined ? await inodeOf(join(dataFolder, "postgres")) : undefined,
  };
}

/**
 * Returns the inode of a folder. A copy of the folder has a different inode; a restart or a move
 * within the file system preserves it.
 */
async function inodeOf(folder: string): Promise<string> {
  return `${(await stat(folder, { bigint: true })).ino}`;
}

/** Returns a description of the media store, with the settings that name it. */
export function storeName({ s3, dataFolder }: MediaStoreSettings): string {
  if (!s3) return `the folder ${join(dataFolder, "media")} (HLUST_DATA)`;
  const prefix =
    s3.prefix === "" ? "" : ` with the prefix ${JSON.stringify(s3.prefix)} (S3_PREFIX)`;
  return `the bucket ${JSON.stringify(s3.bucket)} (S3_BUCKET)${prefix}`;
}

/** Returns a description of the database. */
export function databaseName({ database, dataFolder }: ArchiveSettings): string {
  return database.url === undefined
    ? `the service's own database in ${join(dataFolder, "postgres")} (HLUST_DATA; DATABASE_URL is not set)`
    : "the database of DATABASE_URL";
}
