import { randomUUID } from "node:crypto";
import { createWriteStream, type WriteStream } from "node:fs";
import { chmod, mkdir, readdir, rm } from "node:fs/promises";
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

/**
 * Copies bytes into `folder`. The file is readable for all users, but no other user may enter the
 * folder. `bytes` are read to their end or destroyed, even if they hang.
 */
export async function openScratchFile(
  folder: string,
  bytes: Readable,
  { signal, onChunk }: { signal: AbortSignal; onChunk: (chunk: Uint8Array) => void },
): Promise<ScratchFile> {
  const path = join(folder, `${randomUUID()}.${processMark()}`);
  const remove = async (): Promise<void> => {
    await rm(path, { force: true });
  };
  const file = createWriteStream(path, { flags: "wx", mode: 0o644 });
  try {
    await pipeline(bytes, (chunks: AsyncIterable<Buffer>) => passing(chunks, onChunk), file, {
      signal,
    });
    await chmod(path, 0o644);
    return { path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await closed(file);
    await remove();
    throw explain(error);
  }
}

/**
 * Waits until the file is closed, which pipeline() does not do: a file that is still being opened
 * would be created after its deletion.
 */
async function closed(file: WriteStream): Promise<void> {
  await new Promise<void>((resolve) => {
    if (file.closed) resolve();
    else file.once("close", resolve).destroy();
  });
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

async function* passing(
  chunks: AsyncIterable<Buffer>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

/** Creates the folder, and deletes the files of processes that were killed. */
export async function prepareScratchFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  for (const name of await readdir(folder)) {
    if (isGone(name.slice(name.indexOf(".") + 1))) await rm(join(folder, name), { force: true });
  }
}
