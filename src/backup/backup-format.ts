import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../media/synced-files.ts";

/**
 * A backup is a folder:
 *
 * - manifest.json: the facts below;
 * - tables/<name>.copy.zst: the rows as the text format of COPY, compressed with zstd;
 * - media/<last two digits>/<id>: the media;
 * - SHA256SUMS: the checksum of each other file, as sha256sum writes them. It is written last, and
 *   its last line has its own checksum, so that a cut copy is noticed.
 *
 * While it is being made, its name ends in .partial.
 */
export interface Manifest {
  readonly format: typeof formatName;
  readonly formatVersion: number;
  /** The version of Hlust that made the backup. */
  readonly hlust: string;
  /** The version of the PostgreSQL server. */
  readonly server: string;
  /** The moment that the backup shows, by the clock of the database. */
  readonly snapshotAt: string;
  /** The migrations of the database, in order. */
  readonly migrations: readonly string[];
  /** The archive; null if no service had named it yet. */
  readonly archive: { readonly id: string; readonly createdAt: string } | null;
  readonly tables: readonly TableFacts[];
  /** null: the backup was made without media. */
  readonly media: MediaFacts | null;
  /** The installed models, which the backup does not contain. */
  readonly models: readonly ModelFacts[];
}

export interface TableFacts {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: number;
  /** The size of the file. */
  readonly bytes: number;
}

export interface MediaFacts {
  /** The number of media in the backup, and the sum of their sizes. */
  readonly count: number;
  readonly bytes: number;
  /** Media that the database names, but the store did not have. */
  readonly missing: readonly string[];
  /** Media whose bytes differ from their record. */
  readonly altered: readonly string[];
}

export interface ModelFacts {
  readonly name: string;
  readonly version: string;
  /** The SHA-256 of its model.json, which has the checksums of its files. */
  readonly sha256: string;
}

const formatName = "hlust-backup";
const formatVersion = 1;
export const manifestFile = "manifest.json";
export const checksumsFile = "SHA256SUMS";
export const partialSuffix = ".partial";

/** A backup cannot be used. The message names the file and the reason. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Returns the path of a table in a backup. */
export function tablePath(name: string): string {
  return `tables/${name}.copy.zst`;
}

/** Returns the path of media in a backup. */
export function mediaPath(id: string): string {
  return `media/${id.slice(-2)}/${id}`;
}

/** Returns the text of a manifest. */
export function manifestText(facts: Omit<Manifest, "format" | "formatVersion">): string {
  return `${JSON.stringify({ format: formatName, formatVersion, ...facts }, undefined, 2)}\n`;
}

/**
 * Reads the manifest of a backup. Throws BackupError if the folder is not a backup, or one of a
 * later format.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, manifestFile);
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "ENOTDIR") throw error;
    throw new BackupError(`${folder} is not a backup: it has no ${manifestFile}`);
  }
  const manifest = parse(text);
  if (!manifest) throw new BackupError(`${file} was cut or altered: it is not a manifest`);
  if (manifest.formatVersion > formatVersion) {
    throw new BackupError(
      `${folder} was made by a newer Hlust, ${manifest.hlust}: its format is ${manifest.formatVersion}, and this version knows ${formatVersion}`,
    );
  }
  return manifest;
}

function parse(text: string): Manifest | undefined {
  try {
    // The checksum of the manifest is checked before anything else is used.
    const manifest: Manifest = JSON.parse(text);
    return manifest.format === formatName && Array.isArray(manifest.tables) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
