import type { FileHandle } from "node:fs/promises";
import type { ByteRange } from "./media-store.ts";

/**
 * The maximum size of a chunk. Chunks of 64 kB take three times as much CPU time
 * (bench/RESULTS.md).
 */
const chunkBytesMax = 512 * 1024;

/**
 * Reads a range of a file, one chunk ahead, into reused memory: a chunk is valid until the next one
 * is requested. Closes the file at the end. Throws if the file is shorter than the range requires.
 */
export async function* readChunks(
  handle: FileHandle,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = handle;
  const bytes = Math.min(end - start + 1, chunkBytesMax);
  let [next, other] = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)];
  let reading: Promise<Uint8Array> | undefined;
  try {
    for (let at = start; at <= end;) {
      const chunk = await (reading ?? readSome(file, next, at, end));
      at += chunk.length;
      [next, other] = [other, next];
      reading = at <= end ? readSome(file, next, at, end) : undefined;
      // The error is thrown when the next chunk is requested.
      reading?.catch(() => {});
      yield chunk;
    }
  } finally {
    // The file must stay open during a read.
    await reading?.catch(() => {});
  }
}

async function readSome(
  file: FileHandle,
  buffer: Buffer,
  at: number,
  end: number,
): Promise<Uint8Array> {
  const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at + 1), at);
  if (bytesRead === 0) throw new Error(`the file ends at ${at}, before ${end}`);
  return buffer.subarray(0, bytesRead);
}
