import type { SegmentJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { atOnce } from "../../../../std/at-once.ts";
import type { Base, EditedParagraph } from "./base.ts";
import { editedSegmentSteps } from "./edited-segments.ts";
import { noRetimings, type Retimings } from "./retimings.ts";

/** A change of ModifySegments: segments replace those of the base at [startIndex, endIndex). */
export interface SegmentsChange {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly segments: SegmentJson[];
}

/**
 * Returns what must be saved of an edited text: the ranges of segments that have changed, in order
 * and not adjacent. It is empty if nothing has changed.
 */
export function changesOf(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  retimings: Retimings = noRetimings,
): SegmentsChange[] {
  return atOnce(changesOfSteps(base, paragraphs, retimings));
}

/** Does the same as changesOf(), and yields after each segment. */
export function* changesOfSteps(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  retimings: Retimings,
): Generator<void, SegmentsChange[], void> {
  const changes: SegmentsChange[] = [];
  let startIndex = 0;
  let segments: SegmentJson[] = [];
  const closeAt = (endIndex: number): void => {
    if (startIndex < endIndex || segments.length > 0) {
      changes.push({ startIndex, endIndex, segments });
    }
    segments = [];
  };
  for (const { json, index } of yield* editedSegmentSteps(base, paragraphs, retimings)) {
    if (index === undefined) {
      segments.push(json);
      continue;
    }
    closeAt(index);
    startIndex = index + 1;
  }
  closeAt(base.segments.length);
  return changes;
}

/**
 * Returns all segments after changes, for UpdateTranscript. Unchanged segments are the objects that
 * were received, so that their JSON is the same.
 */
export function segmentsAfter(
  base: Base,
  changes: readonly SegmentsChange[],
): readonly SegmentJson[] {
  if (changes.length === 0) return base.segments;
  const all: SegmentJson[] = [];
  let from = 0;
  for (const { startIndex, endIndex, segments } of changes) {
    for (const segment of base.segments.slice(from, startIndex)) all.push(segment);
    for (const segment of segments) all.push(segment);
    from = endIndex;
  }
  for (const segment of base.segments.slice(from)) all.push(segment);
  return all;
}

/**
 * Returns the changes from one list of segments to another, of which most are the same objects.
 * Others are the same if their JSON is.
 */
export function changesBetween(
  before: readonly SegmentJson[],
  after: readonly SegmentJson[],
): SegmentsChange[] {
  return atOnce(changesBetweenSteps(before, after));
}

/** Does the same as changesBetween(), and yields after each segment that is compared as JSON. */
export function* changesBetweenSteps(
  before: readonly SegmentJson[],
  after: readonly SegmentJson[],
): Generator<void, SegmentsChange[], void> {
  const same = new Set<SegmentJson>(before);
  const keyOf = (segment: SegmentJson): SegmentJson | string =>
    same.has(segment) ? segment : JSON.stringify(segment);
  const places = new Map<SegmentJson | string, number>();
  for (const [at, segment] of before.entries()) places.set(segment, at);
  const kept = new Set(after);
  // Few objects differ, so only these are written as JSON.
  for (const [at, segment] of before.entries()) {
    if (kept.has(segment)) continue;
    places.set(JSON.stringify(segment), at);
    yield;
  }
  const changes: SegmentsChange[] = [];
  let startIndex = 0;
  let segments: SegmentJson[] = [];
  const closeAt = (endIndex: number): void => {
    if (startIndex < endIndex || segments.length > 0) {
      changes.push({ startIndex, endIndex, segments });
    }
    segments = [];
  };
  for (const segment of after) {
    const place = places.get(keyOf(segment));
    if (place === undefined || place < startIndex) {
      segments.push(segment);
      yield;
      continue;
    }
    closeAt(place);
    startIndex = place + 1;
  }
  closeAt(before.length);
  return changes;
}
