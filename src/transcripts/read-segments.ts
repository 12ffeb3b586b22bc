import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import {
  fromBinary,
  fromJson,
  isMessage,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import {
  ModifySegmentsRequestSchema,
  SegmentsChangeSchema,
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
import { readChanges, type ChangesRead } from "./check-changes.ts";
import { checkSegments } from "./check-segments.ts";
import { violationsMax } from "./check-values.ts";
import { transcriptLimits } from "./transcript-limits.ts";
import { readPlainChanges, readPlainSegments } from "./read-plain-segments.ts";
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

/**
 * The result of reading a long message. `list` is what was read from the list that makes it long.
 */
export type TakenSegments =
  | { readonly rest: Uint8Array<ArrayBuffer>; readonly list: SegmentsRead | ChangesRead }
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
/**
 * The maximum number of Protobuf fields. Every word has 11 and every segment has eight, including
 * the fields of their messages; a change has three.
 */
const fieldsMax =
  11 * (transcriptLimits.words + transcriptLimits.segments + transcriptLimits.changes);

/** How one of the lists that make messages long is read. */
interface ListForm {
  readonly itemsMax: number;
  /** The numbers of the fields that lead to the words of the list. */
  readonly wordsPath: readonly number[];
  /** The type of the message that has the list. */
  readonly holder: DescMessage;
  /** Reads JSON in the form that clients write. Returns undefined for other forms. */
  plain(json: Uint8Array): SegmentsRead | ChangesRead | undefined;
  /** Reads the list of a message that the library has read. */
  read(holder: unknown): SegmentsRead | ChangesRead;
}

const transcriptSegments: ListForm = {
  itemsMax: transcriptLimits.segments,
  wordsPath: [TranscriptSchema.field.segments.number, SegmentSchema.field.words.number],
  holder: TranscriptSchema,
  plain(json) {
    const segments = readPlainSegments(json);
    return segments && checked(segments);
  },
  read(holder) {
    return checked(isMessage(holder, TranscriptSchema) ? holder.segments : []);
  },
};

const segmentsChanges: ListForm = {
  itemsMax: transcriptLimits.changes,
  wordsPath: [
    ModifySegmentsRequestSchema.field.changes.number,
    SegmentsChangeSchema.field.segments.number,
    SegmentSchema.field.words.number,
  ],
  holder: ModifySegmentsRequestSchema,
  plain(json) {
    const changes = readPlainChanges(json);
    return changes && readChanges(changes);
  },
  read(holder) {
    return readChanges(isMessage(holder, ModifySegmentsRequestSchema) ? holder.changes : []);
  },
};

function formOf(path: LongMessage["path"]): ListForm {
  return listOf(path) === "changes" ? segmentsChanges : transcriptSegments;
}

/**
 * Cuts the segments, or the changes of segments, out of a message, and reads, checks and packs
 * them. This takes 60 ms of CPU per MB. Segments that are not in the form that clients write take
 * at least twice as long and are read only with `anyForm`.
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
  const form = formOf(path);
  const cut = isUtf8(bytes) ? cutJson(bytes, path, form.itemsMax) : undefined;
  if (cut === undefined) {
    if (!anyForm) return { otherForm: bytes };
    // Invalid JSON is refused with the position of the error. Valid JSON with too many values to be
    // read whole is refused for that reason.
    parseJson(textOfUtf8(bytes));
    checkRest(bytes, countValues(bytes), listOf(path));
    return { whole: bytes };
  }
  checkRest(cut.rest, countValues(cut.rest), listOf(path));
  const plain = form.plain(cut.list);
  if (!plain && !anyForm) return { otherForm: bytes };
  if (!isJson(cut.rest)) parseJson(textOfUtf8(bytes));
  const rest = new Uint8Array(cut.rest);
  return { rest, list: plain ?? form.read(readHolder(form, cut.holder, isStrict)) };
}

function takeFromBinary({ bytes, path }: LongMessage): TakenSegments {
  const form = formOf(path);
  const { holder, itemsMax, wordsPath } = form;
  const { rest, list } = cutBinary(bytes, path, itemsMax);
  checkRest(rest, 0, listOf(path));
  const words = countElements(list, wordsPath, transcriptLimits.words);
  if (words > transcriptLimits.words) {
    throw tooMany(path, `words in total; at most ${transcriptLimits.words} are allowed`);
  }
  const fields = countFields(holder, list, fieldsMax);
  if (fields > fieldsMax) throw tooMany(path, `fields: at most ${fieldsMax} are read`);
  const message = converted(() => fromBinary(holder, list, { readUnknownFields: false }));
  return { rest: new Uint8Array(rest), list: form.read(message) };
}

function tooMany(path: LongMessage["path"], what: string): ServiceError {
  return invalidArgument([{ field: listOf(path), description: `has more ${what}` }]);
}

/** Reads any form of JSON with the library, which reports what is wrong. */
function readHolder({ holder: type }: ListForm, holder: Uint8Array, isStrict: boolean): Message {
  if (isStrict) return readJson(type, holder);
  const json = parseJson(textOfUtf8(holder));
  return converted(() => fromJson(type, json, { ignoreUnknownFields: true }));
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
