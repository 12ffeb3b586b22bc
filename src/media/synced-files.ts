import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";

/** Makes the names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** The status of a file; undefined if it does not exist. */
export async function statFile(file: string): Promise<Stats | undefined> {
  return await stat(file).catch(ignoreMissing);
}

/** For catch(): undefined if a file or folder does not exist; rethrows anything else. */
export function ignoreMissing(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

/** The code of an error, such as ENOENT or ENOSPC; undefined if it has none. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
