// RIFF/WAVE headers. This file has no `node:` imports, since the console reads and writes such
// headers too.

/** The header of 16-bit PCM samples in RIFF/WAVE. */
export interface WavHeader {
  readonly sampleRateHertz: number;
  readonly channels: number;
  /** The offset of the first sample. */
  readonly dataOffset: number;
  /**
   * The number of sample bytes that were read, in whole frames. It never exceeds the number of
   * existing bytes.
   */
  readonly dataBytes: number;
}

/**
 * The error for bytes that begin as RIFF/WAVE but cannot be used. The message contains the reason.
 */
export class WavError extends Error {
  override readonly name = "WavError";
}

/**
 * A chunk. Its content is the `size` bytes from `body` on, not all of which need to be among the
 * bytes that were read.
 */
export interface WavChunk {
  readonly tag: string;
  readonly body: number;
  readonly size: number;
  /** The offset of the next chunk. Chunks begin at even offsets. */
  readonly next: number;
}

export const wavFormatPcm = 1;
/** WAVE_FORMAT_EXTENSIBLE. The actual format is in the first two bytes of a GUID. */
export const wavFormatExtensible = 0xfffe;
/** The length of the header that wavHeader() creates. */
const headerBytes = 44;

export function isWav(bytes: Uint8Array): boolean {
  return bytes.length >= 12 && tagAt(bytes, 0) === "RIFF" && tagAt(bytes, 8) === "WAVE";
}

/** Yields the chunks that begin in the first bytes of a WAV file. */
export function* wavChunks(bytes: Uint8Array): Generator<WavChunk, void, undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 12; at + 8 <= bytes.length;) {
    const [size, body] = [view.getUint32(at + 4, true), at + 8];
    const next = body + size + (size % 2);
    yield { tag: tagAt(bytes, at), body, size, next };
    at = next;
  }
}

/**
 * Reads the header of 16-bit PCM in RIFF/WAVE. Returns undefined if the bytes do not begin with
 * such a header. Chunks other than `fmt ` and `data` are skipped. A data size of 0 or 0xFFFFFFFF,
 * as written to pipes, means everything that follows. Throws WavError for another encoding or a
 * header without samples.
 */
export function readWavHeader(bytes: Uint8Array): WavHeader | undefined {
  if (!isWav(bytes)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Pick<WavHeader, "sampleRateHertz" | "channels"> | undefined;
  for (const { tag, body, size } of wavChunks(bytes)) {
    if (tag === "fmt ") format = readFormat(view, body, size);
    if (tag !== "data") continue;
    if (!format) throw new WavError("the WAVE header has no fmt chunk before its data");
    const left = bytes.length - body;
    const frame = 2 * format.channels;
    const length = size === 0 || size === 0xffff_ffff ? left : Math.min(size, left);
    return { ...format, dataOffset: body, dataBytes: length - (length % frame) };
  }
  throw new WavError("the WAVE header has no data chunk");
}

function readFormat(view: DataView, at: number, size: number) {
  if (size < 16 || at + size > view.byteLength) {
    throw new WavError("the WAVE header ends within its fmt chunk");
  }
  const named = view.getUint16(at, true);
  const isExtensible = named === wavFormatExtensible && size >= 26;
  const format = isExtensible ? view.getUint16(at + 24, true) : named;
  const channels = view.getUint16(at + 2, true);
  const sampleRateHertz = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  if (format !== wavFormatPcm || bits !== 16) {
    throw new WavError(
      `the WAVE header has format ${format} with ${bits} bits; 16-bit PCM is required`,
    );
  }
  if (channels === 0 || sampleRateHertz === 0) {
    throw new WavError("the WAVE header has 0 channels or a sample rate of 0");
  }
  return { channels, sampleRateHertz };
}

/** Returns the 44-byte header that turns `dataBytes` of 16-bit PCM into a RIFF/WAVE file. */
export function wavHeader(format: {
  readonly sampleRateHertz: number;
  readonly dataBytes: number;
  /** Default 1. */
  readonly channels?: number;
}): Uint8Array<ArrayBuffer> {
  const { sampleRateHertz, dataBytes, channels = 1 } = format;
  const header = new Uint8Array(headerBytes);
  const view = new DataView(header.buffer);
  const putText = (at: number, text: string): void =>
    header.set(new TextEncoder().encode(text), at);
  putText(0, "RIFF");
  view.setUint32(4, headerBytes - 8 + dataBytes, true);
  putText(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, wavFormatPcm, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHertz, true);
  view.setUint32(28, sampleRateHertz * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  putText(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}

function tagAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
