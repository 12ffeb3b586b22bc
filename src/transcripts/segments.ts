import { createHash } from "node:crypto";
import { promisify } from "node:util";
import {
  constants,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from "node:zlib";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  TranscriptSchema,
  type Segment,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Segments as they are stored: the proto3 JSON array of the wire, unset fields shown, compressed
 * with zstd.
 */
export interface PackedSegments {
  /** Of the JSON. Equal segments have equal hashes. */
  readonly sha256: Buffer;
  readonly jsonZstd: Buffer;
  readonly jsonBytes: number;
  /** The JSON, where it is at hand. */
  readonly json?: Uint8Array;
}

/**
 * Packed segments of an imported file, with the length of their text: Unicode characters, and bytes
 * in UTF-8.
 */
export interface PackedText extends PackedSegments {
  readonly textChars: number;
  readonly textBytes: number;
}

/** Level 1: segments become no smaller by level 3, the default, which takes 1.4 times as long. */
export const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Packed segments but for what they are found by. */
export type StoredSegments = Omit<PackedSegments, "sha256">;

/** Up to here the way to another thread takes longer than the compression. */
const packedHereBytesMax = 16_384;

/** Packs checked segments; the compression of more than a few runs on another thread. */
export async function packSegments(segments: readonly Segment[]): Promise<PackedSegments> {
  const json = Buffer.from(segmentsJson(segments));
  const isShort = json.length <= packedHereBytesMax;
  return {
    sha256: createHash("sha256").update(json).digest(),
    jsonZstd: isShort ? zstdCompressSync(json, zstdOptions) : await compress(json, zstdOptions),
    jsonBytes: json.length,
    json,
  };
}

/** Undoes packSegments(). */
export async function unpackSegments(packed: StoredSegments): Promise<Segment[]> {
  return parseSegments(await decompress(packed.jsonZstd, unpackedSize(packed)));
}

/** The same on this thread. */
export function unpackSegmentsSync(packed: StoredSegments): Segment[] {
  return parseSegments(packed.json ?? zstdDecompressSync(packed.jsonZstd, unpackedSize(packed)));
}

function unpackedSize({ jsonBytes }: StoredSegments): { maxOutputLength: number } {
  return { maxOutputLength: Math.max(jsonBytes, 1) };
}

function parseSegments(json: Uint8Array): Segment[] {
  const parsed: JsonValue = JSON.parse(
    Buffer.from(json.buffer, json.byteOffset, json.length).toString(),
  );
  return segmentsFromJson(parsed);
}

/** Messages of a proto3 JSON array of segments. */
export function segmentsFromJson(json: JsonValue): Segment[] {
  return fromJson(TranscriptSchema, { segments: json }, { ignoreUnknownFields: true }).segments;
}

/**
 * Length of the full text, the concatenation of every word (section 2.3): Unicode characters, and
 * bytes in UTF-8.
 */
export function textLength(segments: readonly Segment[]): { chars: number; bytes: number } {
  let chars = 0;
  let bytes = 0;
  for (const segment of segments) {
    for (const { word } of segment.words) {
      chars += charCount(word);
      bytes += Buffer.byteLength(word);
    }
  }
  return { chars, bytes };
}

/** Unicode characters of a text: a surrogate pair is one. */
export function charCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const code = text.charCodeAt(index);
    if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
    }
  }
  return count;
}

/**
 * The proto3 JSON of segments, written by hand: toJson() of the library takes ten times as long, on
 * the thread that also carries live audio.
 */
export function segmentsJson(segments: readonly Segment[]): string {
  return `[${segments
    .map(({ startTime, endTime, words, speakerId }) => {
      const spoken = words.map((word) => `{${timesJson(word)}"word":${JSON.stringify(word.word)}}`);
      return `{${timesJson({ startTime, endTime })}"words":[${spoken.join(",")}],"speakerId":${JSON.stringify(speakerId)}}`;
    })
    .join(",")}]`;
}

interface Times {
  readonly startTime?: Duration | undefined;
  readonly endTime?: Duration | undefined;
}

function timesJson({ startTime, endTime }: Times): string {
  const start = startTime ? `"startTime":"${durationText(startTime)}",` : "";
  const end = endTime ? `"endTime":"${durationText(endTime)}",` : "";
  return start + end;
}

/**
 * Durations are checked not to be negative before they come here. 0, 3, 6 or 9 fractional digits.
 */
function durationText({ seconds, nanos }: Duration): string {
  if (nanos === 0) return `${seconds}s`;
  const digits = `${nanos}`.padStart(9, "0");
  if (digits.endsWith("000000")) return `${seconds}.${digits.slice(0, 3)}s`;
  return `${seconds}.${digits.endsWith("000") ? digits.slice(0, 6) : digits}s`;
}
