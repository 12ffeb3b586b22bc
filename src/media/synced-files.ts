import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** undefined when there is no such file. */
export async function statFile(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(ignoreMissing);
}

/** For catch(): undefined where a file or folder is not there; throws anything else. */
export function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

/** ENOENT, ENOSPC and so on; undefined for what is no error of the system. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
