import type { Stats } from "node:fs";
import { link, open, stat } from "node:fs/promises";
import { ServiceError } from "../std/service-error.ts";

/** Makes the names in a folder durable by syncing it. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Returns the status of a file, or undefined if it does not exist. */
export async function statFile(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(ignoreMissing);
}

/**
 * For use in catch(): returns undefined if a file or folder does not exist, and rethrows any other
 * error.
 */
export function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

/** Returns the code of an error, such as ENOENT or ENOSPC, or undefined if it has none. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Returns the error for callers if a disk is full, and any other error unchanged. */
export function explainFull(error: unknown): unknown {
  const code = codeOf(error);
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new ServiceError("unavailable", "the media store is full", {
    reason: "STORAGE_FULL",
    retryAfterMs: 60_000,
    cause: error,
  });
}

/** The errors of a hard link that is not possible between these places. */
const unlinkable: ReadonlySet<unknown> = new Set([
  "EXDEV",
  "EPERM",
  "EACCES",
  "EMLINK",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
  "ENOENT",
]);

/** Makes a hard link. Returns false if that is not possible, or if there is no such file. */
export async function isLinked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (unlinkable.has(codeOf(error))) return false;
    throw error;
  }
}
