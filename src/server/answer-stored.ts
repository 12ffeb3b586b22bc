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
 * JSON up to this size is decompressed in one step, in less than half the time that it takes in
 * chunks and without the 2 MB of a streaming decompressor. Longer JSON is decompressed as the
 * client reads it.
 */
const wholeBytesMax = 8 << 20;
const chunkBytes = 256 << 10;
/** Memory that a streaming decompressor takes. */
const decompressorBytes = 2 << 20;
/** The smallest chunk size that zlib accepts. */
const chunkBytesMin = 64;

/**
 * Answers JSON in which one field is stored compressed. A client that accepts zstd gets the stored
 * bytes, in one frame with the text around them: nothing is decompressed or compressed. For other
 * clients the field is decompressed on another thread, chunk by chunk as they read it.
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

/** The value of Vary with one more header, in addition to those set for pages of other origins. */
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

/** The JSON of a field; long JSON is decompressed as it is read, on another thread. */
export async function* jsonChunks({
  json,
  jsonBytes,
  jsonZstd,
}: StoredJson): AsyncGenerator<Uint8Array> {
  if (json || jsonBytes <= wholeBytesMax) {
    // One byte more than the JSON: otherwise zlib requests another buffer, to find the end.
    const chunkSize = Math.max(jsonBytes + 1, chunkBytesMin);
    yield json ?? (await decompress(jsonZstd, { chunkSize }));
  } else {
    const plain = createZstdDecompress({ chunkSize: chunkBytes });
    plain.end(jsonZstd);
    yield* plain;
  }
}

/** The memory that jsonChunks() keeps until the last chunk is read. */
export function heldBytesOf({ json, jsonBytes, jsonZstd }: StoredJson): number {
  const isWhole = json !== undefined || jsonBytes <= wholeBytesMax;
  return jsonZstd.length + (isWhole ? jsonBytes : decompressorBytes);
}

/**
 * Frees a buffer that nothing else uses when the answer is sent. The garbage collector would count
 * the buffer, and mark the whole heap once in a dozen such answers, which takes as long as the rest
 * of their work. Nothing is freed over HTTP/2, which does not report when a part was sent.
 */
function freeWhenSent(response: HttpResponse, { buffer, byteLength }: Uint8Array): void {
  // Shorter arrays, and parts of a buffer, may share it with others.
  if (!(buffer instanceof ArrayBuffer) || byteLength < chunkBytes) return;
  if (buffer.byteLength > byteLength + 1) return;
  if (response instanceof Http2ServerResponse) return;
  response.once("finish", () => {
    if (response.errored === null && !response.destroyed) buffer.transfer(0);
  });
}
