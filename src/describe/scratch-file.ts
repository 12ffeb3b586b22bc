import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Readable } from "node:stream";
import { isGone, processMark } from "../media/process-mark.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * A copy of media for the decoder, which needs a file on this machine. Disposing of it deletes it.
 */
export interface ScratchFile extends AsyncDisposable {
  readonly path: string;
}

export interface ScratchOptions {
  readonly signal: AbortSignal;
  readonly onChunk?: (chunk: Uint8Array) => void;
  /** Called with each chunk once it is written: it may free the memory of the chunk. */
  readonly free?: ((chunk: Uint8Array) => void) | undefined;
}

/**
 * Copies bytes into `folder`. The file is readable for all users, but no other user may enter the
 * folder. `bytes` are read to their end or destroyed, even if they hang. One chunk is written at a
 * time, and only the buffer of `bytes` holds more.
 */
export async function openScratchFile(
  folder: string,
  bytes: Readable,
  { signal, onChunk, free }: ScratchOptions,
): Promise<ScratchFile> {
  const path = join(folder, `${randomUUID()}.${processMark()}`);
  const remove = async (): Promise<void> => {
    await rm(path, { force: true });
  };
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    await using file = await open(path, "wx", 0o644);
    await file.chmod(0o644);
    for await (const chunk of chunks) {
      onChunk?.(chunk);
      await writeWhole(file, chunk);
      free?.(chunk);
    }
  };
  try {
    // It waits for its last function, even if a signal ends it.
    await pipeline(bytes, write, { signal });
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw explain(error);
  }
}

/** Writes the whole chunk: the kernel may write a part. */
async function writeWhole(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, at);
    at += bytesWritten;
  }
}

/**
 * Converts the error of a full disk to `unavailable`, because a later attempt or another worker may
 * have enough space.
 */
function explain(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOSPC" && code !== "EDQUOT") return error;
  return new ServiceError("unavailable", "the worker has no room for a copy of the media", {
    reason: "STORAGE_FULL",
    cause: error,
  });
}

/** Creates the folder, and deletes the files of processes that were killed. */
export async function prepareScratchFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const name of await readdir(folder)) {
    if (isGone(name.slice(name.indexOf(".") + 1))) await rm(join(folder, name), { force: true });
  }
}
