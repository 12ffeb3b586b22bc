import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";

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
