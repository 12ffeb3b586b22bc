import type { FileHandle } from "node:fs/promises";
import type { G711Law } from "./g711.ts";
import { pcmSampleBytes, type PcmEncoding } from "./pcm-samples.ts";
import { isWav, wavChunks, wavFormatExtensible, wavFormatPcm } from "../std/wav.ts";

/**
 * A WAV file that this process decodes itself: uncompressed and complete, with one or two channels
 * and a common sample rate.
 */
export interface PlainWav {
  readonly encoding: WavEncoding;
  readonly channels: 1 | 2;
  readonly sampleRateHertz: number;
  readonly dataOffset: number;
  /** The number of frames; a frame has one sample of every channel. */
  readonly frames: number;
  readonly sizeBytes: number;
}

export type WavEncoding = Exclude<PcmEncoding, G711Law>;

const formatFloat = 3;
/** The part of the GUID of an extensible header that follows the format. */
const guidTail = Buffer.from("000000001000800000aa00389b71", "hex");
/** The sample rates for which a resampler builds its table quickly. */
const rates = new Set([8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]);
/**
 * Channel masks by the number of channels: front center; front left and front right; or 0 for none.
 */
const masks = { 1: new Set([0, 4]), 2: new Set([0, 3]) } as const;
/** The first bytes of compressed audio in PCM files: S/PDIF, and DTS with 16 and 14 bits. */
const compressedMarks = ["72f81f4e", "fe7f0180", "ff1f00e8"].map((hex) => Buffer.from(hex, "hex"));
/** The maximum number of chunks that are checked after the samples. */
const chunksAfterMax = 32;

/**
 * Reads the header of a WAV file from its first bytes, `start`. Returns undefined for a file that
 * is truncated or is not plain in every respect; such files are left to ffmpeg. Never throws
 * because of the content.
 */
export async function findPlainWav(
  file: FileHandle,
  start: Buffer,
  sizeBytes: number,
): Promise<PlainWav | undefined> {
  if (!isWav(start)) return undefined;
  let format: ReturnType<typeof readFormat>;
  for (const { tag, body, size, next } of wavChunks(start)) {
    if (tag === "fmt ") {
      if (format || body + size > start.length) return undefined;
      format = readFormat(start.subarray(body, body + size));
      if (!format) return undefined;
    }
    if (tag === "data") {
      const frames = format ? Math.floor(size / (format.channels * format.sampleBytes)) : 0;
      const isWhole = frames > 0 && body + size <= sizeBytes;
      if (!format || !isWhole || isCompressed(start.subarray(body))) return undefined;
      if (await hasMoreData(file, next, sizeBytes)) return undefined;
      const { encoding, channels, sampleRateHertz } = format;
      return { encoding, channels, sampleRateHertz, dataOffset: body, frames, sizeBytes };
    }
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
  const sampleBytes = pcmSampleBytes[encoding];
  if (fmt.readUInt16LE(12) !== channels * sampleBytes) return undefined;
  return { encoding, channels, sampleRateHertz, sampleBytes } as const;
}

/**
 * Returns the format, even if the header is extensible, or undefined if an extensible header has an
 * unusual channel mask or number of bits.
 */
function formatOf(fmt: Buffer, channels: 1 | 2, bits: number): number | undefined {
  const named = fmt.readUInt16LE(0);
  if (named !== wavFormatExtensible) return named;
  if (fmt.length < 40 || !fmt.subarray(26, 40).equals(guidTail)) return undefined;
  const isUsual = fmt.readUInt16LE(18) === bits && masks[channels].has(fmt.readUInt32LE(20));
  return isUsual ? fmt.readUInt16LE(24) : undefined;
}

function encodingOf(format: number | undefined, bits: number): WavEncoding | undefined {
  if (format === formatFloat) return bits === 32 ? "f32" : undefined;
  if (format !== wavFormatPcm) return undefined;
  return ({ 8: "u8", 16: "s16", 24: "s24", 32: "s32" } as const)[bits];
}

function isCompressed(data: Buffer): boolean {
  return compressedMarks.some((mark) => data.includes(mark));
}

/** Returns whether another data chunk follows, or too many chunks to check. */
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
