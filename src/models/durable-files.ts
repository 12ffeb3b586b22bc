import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The measured size and checksum of a file. */
export interface FileFacts {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Writes a new file and its folders, and syncs the file. Fails if the file exists. syncTree() syncs
 * the folders.
 */
export async function writeNewFile(
  path: string,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<FileFacts> {
  await mkdir(dirname(path), { recursive: true });
  await using handle = await open(path, "wx", 0o644);
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    await writeAll(handle, chunk);
  }
  await handle.sync();
  return { bytes, sha256: hash.digest("hex") };
}

/**
 * Replaces a file atomically. Even after a power cut, the file is either the old one or the new
 * one.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await writeNewFile(fresh, [Buffer.from(text)]);
  await rename(fresh, path);
  await syncFolder(dirname(path));
}

/** Writes the whole chunk at the current position of the handle. */
export async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, at);
    at += bytesWritten;
  }
}

export async function hashFile(path: string): Promise<FileFacts> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    const data: Uint8Array = chunk;
    hash.update(data);
    bytes += data.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** Makes the names in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}

/** Like syncFolder(), for a folder and all folders below it. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncTree(join(folder, entry.name));
  }
  await syncFolder(folder);
}

/** Returns the system error code of an error, such as "ENOENT". */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
