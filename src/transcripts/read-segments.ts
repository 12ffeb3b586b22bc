import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import { TranscriptSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import {
  invalidArgument,
  ServiceError,
  type ErrorCode,
  type FieldViolation,
} from "../std/service-error.ts";
import type { UnreadField } from "../std/unread-field.ts";
import { isListAt } from "../transcoding/read-around.ts";
import { readJson } from "../transcoding/read-json.ts";
import { checkSegments, violationsMax } from "./check-transcript.ts";
import { scanSegments } from "./scan-segments.ts";
import { segmentsJson, zstdOptions } from "./segments.ts";

/** Segments that a caller has sent as JSON: packed, or what is wrong with them. In plain data, to go from thread to thread. */
export type SegmentsRead =
  | {
      /** Canonical, as it is hashed and compressed. */
      readonly json: Uint8Array<ArrayBuffer>;
      readonly jsonZstd: Uint8Array<ArrayBuffer>;
      readonly sha256: Uint8Array;
    }
  /** Of check-transcript.ts, 100 at most. */
  | { readonly violations: readonly FieldViolation[] }
  /** The body is not even a transcript in JSON: parts of a ServiceError. */
  | { readonly refused: Refused };

export interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: string;
  readonly violations: readonly FieldViolation[];
}

/** What may cross threads of an UnreadField. */
export type UnreadSegments = Pick<UnreadField, "json" | "start" | "end">;

/** Reads, checks and packs the segments in the JSON of a transcript. Takes its thread for as long as it takes. */
export function readSegments(unread: UnreadSegments): SegmentsRead {
  const { json, start, end } = unread;
  const scanned = scanSegments(json.subarray(start, end));
  return scanned ? packed(scanned) : readWhole(unread);
}

/** The general way, which knows everything that JSON may be and says what is wrong. */
function readWhole(unread: UnreadSegments): SegmentsRead {
  try {
    const { segments } = readJson(TranscriptSchema, unread.json);
    if (!isListAt(TranscriptSchema, unread)) {
      // There was more between the two, which nobody has read.
      throw invalidArgument([{ field: "segments", description: "is given twice" }]);
    }
    const violations = checkSegments(segments).take(violationsMax).toArray();
    return violations.length > 0 ? { violations } : packed(Buffer.from(segmentsJson(segments)));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message, reason, violations } = error;
    return { refused: { code, message, reason, violations } };
  }
}

function packed(json: Buffer): SegmentsRead {
  return {
    json: new Uint8Array(json),
    jsonZstd: new Uint8Array(zstdCompressSync(json, zstdOptions)),
    sha256: new Uint8Array(createHash("sha256").update(json).digest()),
  };
}
