import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { CatalogueEntry, ModelDownload } from "./catalogue.ts";
import { freeBytesOf, type FreeBytes } from "./disk-room.ts";
import { downloadLimits, openDownload } from "./download-answer.ts";
import { codeOf } from "./durable-files.ts";
import { partOf } from "./part-path.ts";

/** What a pull will take, before it downloads anything. */
export interface PullPlan {
  /** The bytes of all downloads; undefined if neither the catalogue nor a server says so. */
  readonly downloadBytes: number | undefined;
  /** The bytes that an interrupted pull has left. */
  readonly downloadedBytes: number;
  /** The bytes of the installed model; undefined if they are not known before. */
  readonly installedBytes: number | undefined;
  readonly freeBytes: number;
}

/**
 * Plans a pull. A size that the catalogue does not have is asked of the server; a server that does
 * not answer is left to the pull, which reports it.
 */
export async function planPull(
  { card, downloads, diskBytes }: CatalogueEntry,
  modelsFolder: string,
  freeBytes: FreeBytes = freeBytesOf,
): Promise<PullPlan> {
  const sizes = await Promise.all(downloads.map(sizeOf));
  const parts = await Promise.all(
    downloads.map(async ({ url }) => {
      const found = await stat(partOf(modelsFolder, card.name, url)).catch(() => undefined);
      return found?.size ?? 0;
    }),
  );
  return {
    downloadBytes: sizes.reduce<number | undefined>(added, 0),
    downloadedBytes: parts.reduce((sum, bytes) => sum + bytes, 0),
    installedBytes: diskBytes,
    freeBytes: await freeBytes(await existing(modelsFolder)),
  };
}

function added(sum: number | undefined, bytes: number | undefined): number | undefined {
  return sum === undefined || bytes === undefined ? undefined : sum + bytes;
}

async function sizeOf({ url, bytes }: ModelDownload): Promise<number | undefined> {
  if (bytes !== undefined) return bytes;
  try {
    await using answer = await openDownload({ url, limits: downloadLimits });
    return answer.totalBytes;
  } catch {
    return undefined;
  }
}

/** Returns the folder, or the nearest one above it that exists. */
async function existing(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const above = dirname(folder);
    if (codeOf(error) !== "ENOENT" || above === folder) throw error;
    return await existing(above);
  }
}
