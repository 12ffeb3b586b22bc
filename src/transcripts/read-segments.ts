import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { fromBinary, fromJson } from "@bufbuild/protobuf";
import {
  SegmentSchema,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ErrorCode } from "../std/error-codes.ts";
import type { LongMessage } from "../std/long-messages.ts";
import { invalidArgument, ServiceError, type FieldViolation } from "../std/service-error.ts";
import { countElements, countFields } from "../transcoding/count-fields.ts";
import { countValues, tooManyValues, valuesMax } from "../transcoding/count-values.ts";
import { cutBinary, cutJson } from "../transcoding/cut-message.ts";
import { parseJson, textOfUtf8 } from "../transcoding/json-text.ts";
import { converted, readJson } from "../transcoding/read-json.ts";
import { checkSegments, transcriptLimits, violationsMax } from "./check-transcript.ts";
import { readPlainSegments } from "./read-plain-segments.ts";
import { segmentsJson, zstdOptions, type PlainSegment } from "./segments.ts";

/**
 * The segments that a caller has sent, packed, or their violations. This is plain data, which can
 * be sent between threads.
 */
export type SegmentsRead =
  | {
      /** The canonical JSON, which is hashed and compressed. */
      readonly json: Uint8Array<ArrayBuffer>;
      readonly jsonZstd: Uint8Array<ArrayBuffer>;
      readonly sha256: Uint8Array;
    }
  /** The violations of checkSegments(), at most 100. */
  | { readonly violations: readonly FieldViolation[] };

/** The result of reading a long message. */
export type TakenSegments =
  | { readonly rest: Uint8Array<ArrayBuffer>; readonly segments: SegmentsRead }
  /** The message contains no list, and is short enough to be read whole. */
  | { readonly whole: Uint8Array }
  /** The segments are not in the form that clients write: they must be read with `anyForm`. */
  | { readonly otherForm: Uint8Array }
  /** The message is not a transcript, or is too large: the parts of a ServiceError. */
  | { readonly refused: Refused };

export interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: string;
  readonly violations: readonly FieldViolation[];
}

/**
 * The maximum number of bytes of a message in addition to its segments: the limit for the other
 * methods.
 */
const restBytesMax = 1 << 20;
const wordsPath = [TranscriptSchema.field.segments.number, SegmentSchema.field.words.number];
/**
 * The maximum number of Protobuf fields. Every word and every segment has eight, including the
 * fields of their messages.
 */
const fieldsMax = 8 * (transcriptLimits.words + transcriptLimits.segments);

/**
 * Cuts the segments out of a message that contains a transcript, and reads, checks and packs them.
 * This takes 60 ms of CPU per MB. Segments that are not in the form that clients write take at
 * least twice as long and are read only with `anyForm`.
 */
export function takeSegments(message: LongMessage, anyForm: boolean): TakenSegments {
  try {
    const { bytes, format } = message;
    if (format === "json") return takeFromJson(message, anyForm);
    return anyForm ? takeFromBinary(message) : { otherForm: bytes };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message: text, reason, violations } = error;
    return { refused: { code, message: text, reason, violations } };
  }
}

function takeFromJson({ bytes, path, isStrict }: LongMessage, anyForm: boolean): TakenSegments {
  const cut = isUtf8(bytes) ? cutJson(bytes, path, transcriptLimits.segments) : undefined;
  if (cut === undefined) {
    if (!anyForm) return { otherForm: bytes };
    // Invalid JSON is refused with the position of the error. Valid JSON with too many values to be
    // read whole is refused for that reason.
    parseJson(textOfUtf8(bytes));
    checkRest(bytes, countValues(bytes), listOf(path));
    return { whole: bytes };
  }
  checkRest(cut.rest, countValues(cut.rest), listOf(path));
  const plain = readPlainSegments(cut.list);
  if (!plain && !anyForm) return { otherForm: bytes };
  if (!isJson(cut.rest)) parseJson(textOfUtf8(bytes));
  const rest = new Uint8Array(cut.rest);
  return { rest, segments: plain ? checked(plain) : readList(cut.holder, isStrict) };
}

function takeFromBinary({ bytes, path }: LongMessage): TakenSegments {
  const { rest, list } = cutBinary(bytes, path, transcriptLimits.segments);
  checkRest(rest, 0, listOf(path));
  const words = countElements(list, wordsPath, transcriptLimits.words);
  if (words > transcriptLimits.words) {
    throw tooMany(`words in total; at most ${transcriptLimits.words} are allowed`);
  }
  const fields = countFields(TranscriptSchema, list, fieldsMax);
  if (fields > fieldsMax) throw tooMany(`fields: at most ${fieldsMax} are read`);
  const { segments } = converted(() =>
    fromBinary(TranscriptSchema, list, { readUnknownFields: false }),
  );
  return { rest: new Uint8Array(rest), segments: checked(segments) };
}

function tooMany(what: string): ServiceError {
  return invalidArgument([{ field: "segments", description: `has more ${what}` }]);
}

/** Reads any form of JSON with the library, and reports what is wrong. */
function readList(holder: Uint8Array, isStrict: boolean): SegmentsRead {
  if (isStrict) return checked(readJson(TranscriptSchema, holder).segments);
  const json = parseJson(textOfUtf8(holder));
  const options = { ignoreUnknownFields: true };
  return checked(converted(() => fromJson(TranscriptSchema, json, options)).segments);
}

function checked(segments: readonly PlainSegment[]): SegmentsRead {
  const violations = checkSegments(segments).take(violationsMax).toArray();
  return violations.length > 0 ? { violations } : packed(Buffer.from(segmentsJson(segments)));
}

function checkRest({ length }: Uint8Array, values: number, list: string): void {
  if (values > valuesMax) throw tooManyValues(list);
  if (length <= restBytesMax) return;
  const description = `has more than ${restBytesMax} bytes besides ${list}`;
  throw invalidArgument([{ field: "body", description }]);
}

function isJson(bytes: Uint8Array): boolean {
  try {
    parseJson(textOfUtf8(bytes));
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function listOf(path: LongMessage["path"]): string {
  return path.at(-1)?.jsonName ?? "";
}

function packed(json: Buffer): SegmentsRead {
  return {
    json: new Uint8Array(json),
    jsonZstd: new Uint8Array(zstdCompressSync(json, zstdOptions)),
    sha256: new Uint8Array(createHash("sha256").update(json).digest()),
  };
}
