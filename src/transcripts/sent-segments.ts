import type { Segment, Transcript } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError, type FieldViolation } from "../std/service-error.ts";
import { unreadFieldOf } from "../std/unread-field.ts";
import { checkSegments } from "./check-transcript.ts";
import type { SegmentsReader } from "./segments-reader.ts";
import { packSegments, type PackedSegments } from "./segments.ts";

/** The segments that a caller has sent. */
export interface SentSegments {
  readonly isEmpty: boolean;
  readonly violations: Iterable<FieldViolation>;
  /** For segments without violations. */
  pack(): Promise<PackedSegments>;
}

/**
 * The segments of a request. What the door has left unread is read elsewhere, and refused here as the door would have refused it: call
 * this first.
 */
export async function sentSegments(
  reader: SegmentsReader,
  transcript: Transcript | undefined,
): Promise<SentSegments> {
  const unread = transcript && unreadFieldOf(transcript);
  if (unread === undefined) return messages(transcript?.segments ?? []);
  const read = await reader.read(unread);
  if ("refused" in read)
    throw new ServiceError(read.refused.code, read.refused.message, read.refused);
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
