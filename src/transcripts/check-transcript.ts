import type { TranscriptMetadata } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";
import { checkMetadata } from "./check-metadata.ts";
import { checkSegments } from "./check-segments.ts";
import { checkText } from "./check-values.ts";
import type { CallerField } from "./merge.ts";
import type { PlainSegment } from "./segments.ts";
import { transcriptLimits as limits } from "./transcript-limits.ts";

/** Finds violations in the note of a new version. */
export function* checkNote(note: string): Generator<FieldViolation> {
  yield* checkText("note", note, limits.noteChars);
}

/**
 * Finds violations in these metadata fields, including required fields that are empty, and in
 * segments.
 */
export function* checkTranscript(
  metadata: TranscriptMetadata,
  fields: Iterable<CallerField>,
  segments: readonly PlainSegment[],
): Generator<FieldViolation> {
  yield* checkMetadata(metadata, fields);
  yield* checkSegments(segments);
}
