import type { FieldViolation } from "../std/service-error.ts";
import { checkEachSegment, nanosecondsOf } from "./check-segments.ts";
import { checkCount, violationsMax } from "./check-values.ts";
import { transcriptLimits } from "./transcript-limits.ts";
import { segmentsJson, type PlainSegment } from "./segments.ts";

/** A range of the segments of a version, and what replaces it. */
export interface PlainChange {
  readonly startIndex: number;
  readonly endIndex: number;
  readonly segments: readonly PlainSegment[];
}

/** A change that was checked as far as that is possible without the version. */
export interface CheckedChange {
  readonly startIndex: number;
  readonly endIndex: number;
  /** The new segments in stored form: their JSON, with commas between them. */
  readonly json: string;
  readonly segments: number;
  /** The starts of the first and the last new segment, in nanoseconds. */
  readonly firstStart: number;
  readonly lastStart: number;
}

/** The changes of a request, or their violations: plain data, which can be sent between threads. */
export type ChangesRead =
  | { readonly changes: readonly CheckedChange[] }
  /** The violations of checkChanges(), at most 100. */
  | { readonly violations: readonly FieldViolation[] };

/** Checks the changes of a request, and writes their segments in stored form. */
export function readChanges(changes: readonly PlainChange[]): ChangesRead {
  const violations = checkChanges(changes).take(violationsMax).toArray();
  if (violations.length > 0) return { violations };
  return { changes: changes.map(checkedChange) };
}

/**
 * Finds violations in changes: in their number, in the order of their ranges, and in the new
 * segments of each.
 */
function* checkChanges(changes: readonly PlainChange[]): Generator<FieldViolation> {
  const { changes: changesMax, segments: segmentsMax, words: wordsMax } = transcriptLimits;
  const segments = changes.reduce((sum, change) => sum + change.segments.length, 0);
  const words = changes
    .flatMap((change) => change.segments)
    .reduce((sum, segment) => sum + segment.words.length, 0);
  yield* checkCount("changes", changes.length, changesMax, "changes");
  yield* checkCount("changes", segments, segmentsMax, "segments in total");
  yield* checkCount("changes", words, wordsMax, "words in total");
  let previousEnd = 0;
  for (const [index, { startIndex, endIndex, segments }] of changes.entries()) {
    const place = `changes[${index}]`;
    if (startIndex < 0) {
      yield {
        field: `${place}.startIndex`,
        description: `must not be negative, not ${startIndex}`,
      };
    } else if (startIndex < previousEnd) {
      const description = `is ${startIndex}, before the end of the previous change, ${previousEnd}`;
      yield { field: `${place}.startIndex`, description };
    }
    if (endIndex < startIndex) {
      const description = `is ${endIndex}, before its startIndex ${startIndex}`;
      yield { field: `${place}.endIndex`, description };
    }
    previousEnd = Math.max(previousEnd, endIndex);
    yield* checkEachSegment(`${place}.segments`, segments);
  }
}

function checkedChange({ startIndex, endIndex, segments }: PlainChange): CheckedChange {
  return {
    startIndex,
    endIndex,
    json: segmentsJson(segments).slice(1, -1),
    segments: segments.length,
    firstStart: nanosecondsOf(segments.at(0)?.startTime),
    lastStart: nanosecondsOf(segments.at(-1)?.startTime),
  };
}
