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
 * Segments in stored form: the JSON array of the API, including unset fields, compressed with zstd.
 */
export interface PackedSegments {
  /** The hash of the JSON. Equal segments have equal hashes. */
  readonly sha256: Buffer;
  readonly jsonZstd: Buffer;
  readonly jsonBytes: number;
  /** The JSON, if it is already in memory. */
  readonly json?: Uint8Array;
}

/**
 * The packed segments of an imported file, with the length of their text in Unicode characters and
 * in bytes of UTF-8.
 */
export interface PackedText extends PackedSegments {
  readonly textChars: number;
  readonly textBytes: number;
}

/** The stored fields of a Segment, which the library's messages also have. */
export interface PlainSegment extends PlainTimes {
  readonly words: readonly PlainWord[];
  readonly speakerId: string;
}

export interface PlainWord extends PlainTimes {
  readonly word: string;
  /** From 0 to 1; absent if unknown. */
  readonly confidence?: number | undefined;
  /** The spoken words that the word stands for; absent if it is written as it was spoken. */
  readonly spoken?: string | undefined;
  /** Whether the times are estimated; false is not stored. */
  readonly estimatedTimes?: boolean | undefined;
}

export interface PlainTimes {
  readonly startTime?: PlainDuration | undefined;
  readonly endTime?: PlainDuration | undefined;
}

export type PlainDuration = Pick<Duration, "seconds" | "nanos">;

/**
 * Level 1, because level 3, the default, does not make segments smaller and takes 1.4 times as
 * long.
 */
export const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Packed segments without their hash. */
export type StoredSegments = Omit<PackedSegments, "sha256">;

/**
 * JSON up to this length is compressed in this thread, because sending it to another thread takes
 * longer.
 */
const packedHereBytesMax = 16_384;

/** Packs checked segments; zlib compresses all but short JSON in another thread. */
export async function packSegments(segments: readonly PlainSegment[]): Promise<PackedSegments> {
  const json = Buffer.from(segmentsJson(segments));
  const isShort = json.length <= packedHereBytesMax;
  return {
    sha256: createHash("sha256").update(json).digest(),
    jsonZstd: isShort ? zstdCompressSync(json, zstdOptions) : await compress(json, zstdOptions),
    jsonBytes: json.length,
    json,
  };
}

/** Reverses packSegments(). */
export async function unpackSegments(packed: StoredSegments): Promise<Segment[]> {
  return parseSegments(await decompress(packed.jsonZstd, unpackedSize(packed)));
}

/** Reverses packSegments() in this thread. */
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

/** Reads the messages in a proto3 JSON array of segments. */
export function segmentsFromJson(json: JsonValue): Segment[] {
  return fromJson(TranscriptSchema, { segments: json }, { ignoreUnknownFields: true }).segments;
}

/**
 * Returns the length of the full text, which is the concatenation of all words (§2.3), in Unicode
 * characters and in bytes of UTF-8.
 */
export function textLength(segments: readonly PlainSegment[]): { chars: number; bytes: number } {
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

/** Returns the number of Unicode characters in a text: a surrogate pair counts as one. */
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
 * Returns the proto3 JSON of segments. It is generated without the library because toJson() takes
 * ten times as long, in the thread that also handles live audio.
 */
export function segmentsJson(segments: readonly PlainSegment[]): string {
  return `[${segments
    .map(({ startTime, endTime, words, speakerId }) => {
      const spoken = words.map(wordJson);
      return `{${timesJson({ startTime, endTime })}"words":[${spoken.join(",")}],"speakerId":${JSON.stringify(speakerId)}}`;
    })
    .join(",")}]`;
}

function wordJson(word: PlainWord): string {
  const { confidence, spoken, estimatedTimes } = word;
  const sure = confidence === undefined ? "" : `,"confidence":${storedConfidence(confidence)}`;
  const said = spoken === undefined ? "" : `,"spoken":${JSON.stringify(spoken)}`;
  const estimated = estimatedTimes === true ? `,"estimatedTimes":true` : "";
  return `{${timesJson(word)}"word":${JSON.stringify(word.word)}${sure}${said}${estimated}}`;
}

/**
 * Rounds a confidence to three digits, so that it takes few bytes and is the same whether it was
 * sent as JSON or as a float of Protobuf.
 */
export function storedConfidence(confidence: number): number {
  return Math.round(confidence * 1000) / 1000;
}

function timesJson({ startTime, endTime }: PlainTimes): string {
  const start = startTime ? `"startTime":"${durationText(startTime)}",` : "";
  const end = endTime ? `"endTime":"${durationText(endTime)}",` : "";
  return start + end;
}

/**
 * Writes a duration with 0, 3, 6 or 9 fractional digits. Negative durations have already been
 * refused.
 */
function durationText({ seconds, nanos }: PlainDuration): string {
  if (nanos === 0) return `${seconds}s`;
  const digits = `${nanos}`.padStart(9, "0");
  if (digits.endsWith("000000")) return `${seconds}.${digits.slice(0, 3)}s`;
  return `${seconds}.${digits.endsWith("000") ? digits.slice(0, 6) : digits}s`;
}
