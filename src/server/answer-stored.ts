import { Http2ServerResponse } from "node:http2";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import type { StoredJson } from "../std/raw-field.ts";
import { spliceZstd } from "../std/zstd-frame.ts";
import type { AroundField } from "../transcoding/write-response.ts";
import { takesEncoding } from "./accept-encoding.ts";
import { answerPieces, type StreamLimits } from "./answer-stream.ts";
import type { CallContext } from "./call-context.ts";
import type { HttpResponse } from "./http.ts";

const decompress = promisify(zstdDecompress);

/**
 * The maximum size of JSON that is decompressed in one step. One step takes less than half the time
 * of decompressing in chunks, and avoids the 2 MB of a streaming decompressor. Longer JSON is
 * decompressed as the client reads it.
 */
const wholeBytesMax = 8 << 20;
const chunkBytes = 256 << 10;
/** The memory used by a streaming decompressor. */
const decompressorBytes = 2 << 20;
/** The smallest chunk size that zlib accepts. */
const chunkBytesMin = 64;

/**
 * Sends JSON in which one field is stored compressed. A client that accepts zstd gets the stored
 * bytes, in one frame with the surrounding text; nothing is decompressed or compressed. For other
 * clients, the field is decompressed on another thread, chunk by chunk as they read it.
 */
export async function answerStored(
  response: HttpResponse,
  stored: StoredJson,
  around: AroundField,
  parts: {
    readonly call: CallContext;
    readonly acceptEncoding: string;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  const { call, acceptEncoding, limits } = parts;
  const [head, tail] = [Buffer.from(around.head), Buffer.from(around.tail)];
  const frame = takesEncoding(acceptEncoding, "zstd")
    ? spliceZstd(head, stored.jsonZstd, tail)
    : undefined;
  const headers = {
    "content-type": "application/json",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    vary: varyOf(response, "Accept-Encoding"),
    ...call.answerHeaders,
  };
  if (frame) {
    const body = Buffer.concat(frame);
    freeWhenSent(response, body);
    const ofZstd = { "content-encoding": "zstd", "content-length": body.length };
    await answerPieces(response, [body], { call, limits, headers: { ...headers, ...ofZstd } });
    return;
  }
  const ofJson = { "content-length": head.length + stored.jsonBytes + tail.length };
  const chunks = identityChunks(response, head, stored, tail);
  await answerPieces(response, chunks, { call, limits, headers: { ...headers, ...ofJson } });
}

/**
 * Returns the value of Vary with one more header, in addition to the headers set for pages of other
 * origins.
 */
function varyOf(response: HttpResponse, name: string): string {
  const before = response.getHeader("vary");
  return before === undefined ? name : `${String(before)}, ${name}`;
}

async function* identityChunks(
  response: HttpResponse,
  head: Buffer,
  stored: StoredJson,
  tail: Buffer,
): AsyncGenerator<Uint8Array> {
  yield head;
  for await (const chunk of jsonChunks(stored)) {
    if (chunk.length === stored.jsonBytes) freeWhenSent(response, chunk);
    yield chunk;
  }
  yield tail;
}

/** Yields the JSON of a field. Long JSON is decompressed on another thread as it is read. */
export async function* jsonChunks({
  json,
  jsonBytes,
  jsonZstd,
}: StoredJson): AsyncGenerator<Uint8Array> {
  if (json || jsonBytes <= wholeBytesMax) {
    // One byte more than the length of the JSON. Otherwise, zlib requests another buffer to find
    // the end.
    const chunkSize = Math.max(jsonBytes + 1, chunkBytesMin);
    yield json ?? (await decompress(jsonZstd, { chunkSize }));
  } else {
    const plain = createZstdDecompress({ chunkSize: chunkBytes });
    plain.end(jsonZstd);
    yield* plain;
  }
}

/** Returns the amount of memory that jsonChunks() uses until the last chunk is read. */
export function heldBytesOf({ json, jsonBytes, jsonZstd }: StoredJson): number {
  const isWhole = json !== undefined || jsonBytes <= wholeBytesMax;
  return jsonZstd.length + (isWhole ? jsonBytes : decompressorBytes);
}

/**
 * Frees a buffer that nothing else uses when the response is sent. Otherwise, the garbage collector
 * would count the buffer, and mark the whole heap once in a dozen such responses, which takes as
 * long as the rest of their work. Nothing is freed over HTTP/2, which does not report when a part
 * was sent.
 */
function freeWhenSent(response: HttpResponse, { buffer, byteLength }: Uint8Array): void {
  // Shorter arrays, and arrays that are part of a buffer, may share it with others.
  if (!(buffer instanceof ArrayBuffer) || byteLength < chunkBytes) return;
  if (buffer.byteLength > byteLength + 1) return;
  if (response instanceof Http2ServerResponse) return;
  response.once("finish", () => {
    if (response.errored === null && !response.destroyed) buffer.transfer(0);
  });
}
