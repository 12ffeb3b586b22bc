import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { ByteCollector } from "./byte-collector.ts";
import type { MessageOwner, MessageReading } from "./message-reading.ts";

const decompressors = {
  gzip: createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
} as const;

export type ContentCoding = keyof typeof decompressors;

/** Returns whether decompress() supports a coding. */
export function isContentCoding(name: string | undefined): name is ContentCoding {
  return name !== undefined && Object.hasOwn(decompressors, name);
}

/**
 * The number of bytes to decompress in one step. A decompression bomb is detected within one step.
 */
const chunkBytes = 64 << 10;
/** The maximum window size of a coding. */
const windowBytes = 16 << 20;

/**
 * Decompresses a message on zlib's threads, with fair turns between accounts. The owner's share
 * counts the bytes as they are produced. Throws invalid_argument (413) if there are more than
 * `bytesMax` bytes, and invalid_argument for bytes that are not of this coding.
 */
export async function decompress(
  bytes: Uint8Array,
  options: { readonly coding: ContentCoding; readonly bytesMax: number },
  { accountId, signal, share }: MessageOwner,
  { decompressing }: MessageReading,
): Promise<Uint8Array> {
  // gRPC clients send an empty message without compressing it.
  if (bytes.length === 0) return bytes;
  return await decompressing.run(accountId, signal, async () => {
    const window = Math.min(windowBytes, options.bytesMax);
    share.grow(window);
    try {
      return await decompressNow(bytes, options, share);
    } finally {
      share.shrink(window);
    }
  });
}

async function decompressNow(
  bytes: Uint8Array,
  { coding, bytesMax }: { readonly coding: ContentCoding; readonly bytesMax: number },
  share: HeldShare,
): Promise<Uint8Array> {
  const stream = decompressors[coding]({ chunkSize: chunkBytes });
  const collector = new ByteCollector(bytesMax, share);
  stream.end(bytes);
  try {
    for await (const chunk of stream) collector.add(chunk);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError("invalid_argument", `the message is not compressed with ${coding}`, {
      reason: "MALFORMED_COMPRESSION",
      cause: error,
    });
  }
  return collector.take();
}
