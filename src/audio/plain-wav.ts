import type { FileHandle } from "node:fs/promises";

/**
 * A WAV file that this process reads by itself: uncompressed, whole, of one or two channels, at a
 * usual rate.
 */
export interface PlainWav {
  readonly encoding: WavEncoding;
  readonly channels: 1 | 2;
  readonly sampleRateHertz: number;
  readonly dataOffset: number;
  /** A frame is a sample of every channel. */
  readonly frames: number;
  readonly sizeBytes: number;
}

export type WavEncoding = keyof typeof wavSampleBytes;

/** Bytes of a sample. */
export const wavSampleBytes = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4 } as const;

const [formatPcm, formatFloat, formatExtensible] = [1, 3, 0xfffe];
/** What follows the format in the GUID of an extensible header. */
const guidTail = Buffer.from("000000001000800000aa00389b71", "hex");
/** Rates whose tables a resampler has soon. */
const rates = new Set([8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]);
/** Speakers of one channel (front center) and of two (front left, front right), or none named. */
const masks = { 1: new Set([0, 4]), 2: new Set([0, 3]) } as const;
/** Compressed sound that passes for samples: S/PDIF, and DTS of 16 and 14 bits. */
const compressedMarks = ["72f81f4e", "fe7f0180", "ff1f00e8"].map((hex) => Buffer.from(hex, "hex"));
/** Chunks after the samples that are looked at. */
const chunksAfterMax = 32;

/**
 * Reads the header of a WAV file. undefined for whatever is not plain in every respect, or not as
 * long as it says: then ffmpeg has to say what it is. Never throws for what is in the file.
 * `start`: its first bytes.
 */
export async function findPlainWav(
  file: FileHandle,
  start: Buffer,
  sizeBytes: number,
): Promise<PlainWav | undefined> {
  if (start.toString("latin1", 0, 4) !== "RIFF" || start.toString("latin1", 8, 12) !== "WAVE") {
    return undefined;
  }
  let format: ReturnType<typeof readFormat>;
  for (let at = 12; at + 8 <= start.length;) {
    const tag = start.toString("latin1", at, at + 4);
    const size = start.readUInt32LE(at + 4);
    const body = at + 8;
    if (tag === "fmt ") {
      if (format || body + size > start.length) return undefined;
      format = readFormat(start.subarray(body, body + size));
      if (!format) return undefined;
    }
    // Chunks begin at even offsets.
    const next = body + size + (size % 2);
    if (tag === "data") {
      const frames = format ? Math.floor(size / (format.channels * format.sampleBytes)) : 0;
      const isWhole = frames > 0 && body + size <= sizeBytes;
      if (!format || !isWhole || isCompressed(start.subarray(body))) return undefined;
      if (await hasMoreData(file, next, sizeBytes)) return undefined;
      const { encoding, channels, sampleRateHertz } = format;
      return { encoding, channels, sampleRateHertz, dataOffset: body, frames, sizeBytes };
    }
    at = next;
  }
  return undefined;
}

function readFormat(fmt: Buffer) {
  if (fmt.length < 16) return undefined;
  const [channels, bits] = [fmt.readUInt16LE(2), fmt.readUInt16LE(14)];
  const sampleRateHertz = fmt.readUInt32LE(4);
  if ((channels !== 1 && channels !== 2) || !rates.has(sampleRateHertz)) return undefined;
  const encoding = encodingOf(formatOf(fmt, channels, bits), bits);
  if (!encoding) return undefined;
  const sampleBytes = wavSampleBytes[encoding];
  if (fmt.readUInt16LE(12) !== channels * sampleBytes) return undefined;
  return { encoding, channels, sampleRateHertz, sampleBytes } as const;
}

/**
 * The format itself, where an extensible header has it further back; undefined where that names
 * unusual speakers or bits.
 */
function formatOf(fmt: Buffer, channels: 1 | 2, bits: number): number | undefined {
  const named = fmt.readUInt16LE(0);
  if (named !== formatExtensible) return named;
  if (fmt.length < 40 || !fmt.subarray(26, 40).equals(guidTail)) return undefined;
  const isUsual = fmt.readUInt16LE(18) === bits && masks[channels].has(fmt.readUInt32LE(20));
  return isUsual ? fmt.readUInt16LE(24) : undefined;
}

function encodingOf(format: number | undefined, bits: number): WavEncoding | undefined {
  if (format === formatFloat) return bits === 32 ? "f32" : undefined;
  if (format !== formatPcm) return undefined;
  return ({ 8: "u8", 16: "s16", 24: "s24", 32: "s32" } as const)[bits];
}

function isCompressed(data: Buffer): boolean {
  return compressedMarks.some((mark) => data.includes(mark));
}

/**
 * Whether more samples follow in chunks behind the first ones, or so many chunks that nobody looks.
 */
async function hasMoreData(file: FileHandle, from: number, sizeBytes: number): Promise<boolean> {
  const head = Buffer.alloc(8);
  let at = from;
  for (let count = 0; at + head.length <= sizeBytes; count++) {
    const { bytesRead } = await file.read(head, 0, head.length, at);
    const isRead = bytesRead === head.length && count < chunksAfterMax;
    if (!isRead || head.toString("latin1", 0, 4) === "data") return true;
    const size = head.readUInt32LE(4);
    at += head.length + size + (size % 2);
  }
  return false;
}
