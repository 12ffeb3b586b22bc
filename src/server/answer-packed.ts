import { Http2ServerResponse } from "node:http2";
import { promisify } from "node:util";
import { createZstdDecompress, zstdDecompress } from "node:zlib";
import type { PackedField } from "../std/packed-field.ts";
import { spliceZstd } from "../std/zstd-frame.ts";
import type { AroundField } from "../transcoding/write-response.ts";
import { answerPieces, type StreamLimits } from "./answer-stream.ts";
import type { CallContext } from "./call-context.ts";
import type { HttpResponse } from "./http.ts";

const decompress = promisify(zstdDecompress);

/**
 * Up to here all of it is decompressed at once, in less than half the time that it takes in pieces;
 * a decompressor that works in pieces keeps 2 MB all the while too. More waits for the caller to
 * take it.
 */
const wholeBytesMax = 8 << 20;
const chunkBytes = 256 << 10;
/** What a decompressor that works in pieces takes. */
const decompressorBytes = 2 << 20;
/** Of zlib. */
const chunkBytesMin = 64;

/**
 * Answers JSON of which one field is there already, compressed. A caller that takes zstd gets it as
 * it is, in one frame with what stands around it: nothing is decompressed or compressed. For all
 * others it is decompressed on another thread, piece by piece as they take it.
 */
export async function answerPacked(
  response: HttpResponse,
  packed: PackedField,
  around: AroundField,
  parts: {
    readonly call: CallContext;
    readonly acceptEncoding: string;
    readonly limits: StreamLimits;
  },
): Promise<void> {
  const { call, acceptEncoding, limits } = parts;
  const [head, tail] = [Buffer.from(around.head), Buffer.from(around.tail)];
  const frame = takesZstd(acceptEncoding) ? spliceZstd(head, packed.jsonZstd, tail) : undefined;
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
  const ofJson = { "content-length": head.length + packed.jsonBytes + tail.length };
  const pieces = identityPieces(response, head, packed, tail);
  await answerPieces(response, pieces, { call, limits, headers: { ...headers, ...ofJson } });
}

/** Vary with one more header, beside what the door has set for pages of other origins. */
function varyOf(response: HttpResponse, name: string): string {
  const before = response.getHeader("vary");
  return before === undefined ? name : `${String(before)}, ${name}`;
}

async function* identityPieces(
  response: HttpResponse,
  head: Buffer,
  packed: PackedField,
  tail: Buffer,
): AsyncGenerator<Uint8Array> {
  yield head;
  for await (const piece of jsonPieces(packed)) {
    if (piece.length === packed.jsonBytes) freeWhenSent(response, piece);
    yield piece;
  }
  yield tail;
}

/** The JSON of a field; what is long is decompressed as its pieces are taken, on another thread. */
export async function* jsonPieces({
  json,
  jsonBytes,
  jsonZstd,
}: PackedField): AsyncGenerator<Uint8Array> {
  if (json || jsonBytes <= wholeBytesMax) {
    // One byte more: else it asks for another buffer, to see that nothing follows.
    const chunkSize = Math.max(jsonBytes + 1, chunkBytesMin);
    yield json ?? (await decompress(jsonZstd, { chunkSize }));
  } else {
    const plain = createZstdDecompress({ chunkSize: chunkBytes });
    plain.end(jsonZstd);
    yield* plain;
  }
}

/** What jsonPieces() keeps in memory until the last piece is taken. */
export function heldBytesOf({ json, jsonBytes, jsonZstd }: PackedField): number {
  const isWhole = json !== undefined || jsonBytes <= wholeBytesMax;
  return jsonZstd.length + (isWhole ? jsonBytes : decompressorBytes);
}

/**
 * Gives memory back that nobody else has, rather than leaving it to the garbage collector: that
 * counts it, and goes through the whole heap once in a dozen of such answers, which takes as long
 * as all the rest of them. HTTP/2 does not say when it has sent a part.
 */
function freeWhenSent(response: HttpResponse, { buffer, byteLength }: Uint8Array): void {
  // Shorter ones may share a buffer with others, as may what is a part of one.
  if (!(buffer instanceof ArrayBuffer) || byteLength < chunkBytes) return;
  if (buffer.byteLength > byteLength + 1) return;
  if (response instanceof Http2ServerResponse) return;
  response.once("finish", () => {
    if (response.errored === null && !response.destroyed) buffer.transfer(0);
  });
}

/**
 * Whether Accept-Encoding (RFC 9110, section 12.5.3) names zstd, and does not like identity better.
 */
export function takesZstd(acceptEncoding: string): boolean {
  return takesEncoding(acceptEncoding, "zstd");
}

/** The same of any encoding. */
export function takesEncoding(acceptEncoding: string, encoding: string): boolean {
  const weights = new Map(
    acceptEncoding.split(",").map((each) => {
      const [name = "", ...params] = each.split(";").map((part) => part.trim().toLowerCase());
      const weight = params.find((param) => param.startsWith("q="))?.slice(2) ?? "1";
      return [name, Number(weight)] as const;
    }),
  );
  const weight = weights.get(encoding) ?? 0;
  return weight > 0 && weight >= (weights.get("identity") ?? 0);
}
