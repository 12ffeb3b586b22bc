import type {
  ModifySegmentsRequest,
  Segment,
  Transcript,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";
import { readChanges, type ChangesRead } from "./check-changes.ts";
import { checkSegments } from "./check-segments.ts";
import type { SegmentsRead } from "./read-segments.ts";
import { packSegments, type PackedSegments } from "./segments.ts";

/** The segments that a caller has sent. */
export interface SentSegments {
  readonly isEmpty: boolean;
  readonly violations: Iterable<FieldViolation>;
  /** Packs the segments; call it only for segments without violations. */
  pack(): Promise<PackedSegments>;
}

const listsRead = new WeakMap<object, SegmentsRead | ChangesRead>();

/**
 * Attaches segments or changes that were read in a worker thread to the message that they are of,
 * which itself contains none.
 */
export function attachList(holder: object, read: SegmentsRead | ChangesRead): void {
  listsRead.set(holder, read);
}

/** Returns the changes of a request, whichever thread read them. */
export function sentChanges(request: ModifySegmentsRequest): ChangesRead {
  const read = listsRead.get(request);
  return read && !("json" in read) ? read : readChanges(request.changes);
}

/** Returns the segments of a request, whichever thread read them. */
export function sentSegments(transcript: Transcript | undefined): SentSegments {
  const read = transcript && listsRead.get(transcript);
  if (read === undefined || "changes" in read) return messages(transcript?.segments ?? []);
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
