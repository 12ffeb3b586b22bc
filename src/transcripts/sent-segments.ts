import type { Segment, Transcript } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";
import { checkSegments } from "./check-transcript.ts";
import type { SegmentsRead } from "./read-segments.ts";
import { packSegments, type PackedSegments } from "./segments.ts";

/** The segments that a caller has sent. */
export interface SentSegments {
  readonly isEmpty: boolean;
  readonly violations: Iterable<FieldViolation>;
  /** Packs the segments; call it only for segments without violations. */
  pack(): Promise<PackedSegments>;
}

const segmentsRead = new WeakMap<object, SegmentsRead>();

/**
 * Attaches segments that were read in a worker thread to the transcript, which itself contains no
 * segments.
 */
export function attachSegments(transcript: object, read: SegmentsRead): void {
  segmentsRead.set(transcript, read);
}

/** Returns the segments of a request, whichever thread read them. */
export function sentSegments(transcript: Transcript | undefined): SentSegments {
  const read = transcript && segmentsRead.get(transcript);
  if (read === undefined) return messages(transcript?.segments ?? []);
  if ("violations" in read) {
    const { violations } = read;
    return { isEmpty: false, violations, pack: () => Promise.reject(new Error("not checked")) };
  }
  const packed = {
    sha256: Buffer.from(read.sha256),
    jsonZstd: Buffer.from(read.jsonZstd.buffer),
    jsonBytes: read.json.length,
    json: read.json,
  };
  // "[]"
  return { isEmpty: packed.jsonBytes === 2, violations: [], pack: () => Promise.resolve(packed) };
}

function messages(segments: readonly Segment[]): SentSegments {
  return {
    isEmpty: segments.length === 0,
    violations: checkSegments(segments),
    pack: async () => await packSegments(segments),
  };
}
