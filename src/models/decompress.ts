import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { PassThrough, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { ServiceError } from "../std/service-error.ts";
import type { ArchiveFormat } from "./catalogue.ts";
import { codeOf } from "./durable-files.ts";

export interface DecompressOptions {
  /** The maximum size of the decompressed data. */
  readonly bytesMax: number;
  /** Called with the number of bytes read so far. */
  readonly onRead?: ((bytes: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the tar data in a compressed file. Throws ServiceError "data_loss" if the file is corrupt,
 * truncated or longer than bytesMax.
 */
export async function* decompressed(
  file: string,
  format: ArchiveFormat,
  { bytesMax, onRead, signal }: DecompressOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const packed = createReadStream(file, { highWaterMark: 1 << 18 });
  let bytes = 0;
  for await (const chunk of (format === "tar.bz2" ? bunzipped : gunzipped)(packed, signal)) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw broken(`it unpacks to more than ${bytesMax} bytes`);
    yield chunk;
    onRead?.(packed.bytesRead);
  }
}

async function* gunzipped(
  packed: Readable,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const out = new PassThrough({ highWaterMark: 1 << 20 });
  const gunzip = createGunzip({ chunkSize: 1 << 18 });
  const done = pipeline(packed, gunzip, out, signal ? { signal } : {});
  // The promise is awaited below. Until then, the reader also receives its failure.
  done.catch(() => {});
  try {
    yield* out as AsyncIterable<Uint8Array>;
    await done;
  } catch (error) {
    signal?.throwIfAborted();
    if (codeOf(error)?.startsWith("Z_") !== true) throw error;
    throw broken(error instanceof Error ? error.message : String(error), error);
  } finally {
    out.destroy();
  }
}

/**
 * Decompresses with Debian's bzip2. Node has no bzip2, and JavaScript implementations are several
 * times slower.
 */
async function* bunzipped(
  packed: Readable,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const child = spawn("bzip2", ["--decompress", "--stdout"], {
    env: {},
    cwd: "/",
    stdio: ["pipe", "pipe", "pipe"],
    ...(signal && { signal, killSignal: "SIGKILL" }),
  });
  const ended = once(child, "close");
  // The promise is awaited below, unless the reader stops first.
  ended.catch(() => {});
  const fed = pipeline(packed, child.stdin);
  // If bzip2 fails, it stops reading, and its exit status has the reason. A file error is thrown
  // below.
  fed.catch(() => {});
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (complaints.length < 4096) complaints += text;
  });
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>;
    const [status]: unknown[] = await ended;
    const [complaint = ""] = complaints.trim().split("\n", 1);
    if (status !== 0) throw broken(complaint || `bzip2 ended with ${String(status)}`);
    await fed;
  } catch (error) {
    signal?.throwIfAborted();
    if (codeOf(error) !== "ENOENT") throw error;
    throw new ServiceError(
      "failed_precondition",
      "the program bzip2 is not installed: apt-get install bzip2",
      { cause: error },
    );
  } finally {
    packed.destroy();
    child.kill("SIGKILL");
  }
}

function broken(why: string, cause?: unknown): ServiceError {
  return new ServiceError("data_loss", `the archive is broken: ${why}`, { cause });
}
