import type { FieldViolation } from "../std/service-error.ts";
import { checkCount, checkText } from "./check-values.ts";
import type { PlainDuration, PlainSegment, PlainTimes, PlainWord } from "./segments.ts";
import { transcriptLimits as limits } from "./transcript-limits.ts";

/**
 * Finds violations in segments: in their order, their times, the times of their words, and their
 * texts.
 */
export function* checkSegments(segments: readonly PlainSegment[]): Generator<FieldViolation> {
  yield* checkCount("segments", segments.length, limits.segments, "segments");
  const words = segments.reduce((sum, segment) => sum + segment.words.length, 0);
  yield* checkCount("segments", words, limits.words, "words in total");
  yield* checkEachSegment("segments", segments);
}

/** Finds violations in segments, whatever their number; `list` is the field that has them. */
export function* checkEachSegment(
  list: string,
  segments: readonly PlainSegment[],
): Generator<FieldViolation> {
  let previousStart = 0;
  for (const [index, segment] of segments.entries()) {
    const place = `${list}[${index}]`;
    const span = spanOf(segment);
    if (!span) yield* explainSpan(place, segment);
    else if (span.start < previousStart) {
      yield { field: `${place}.startTime`, description: "is before that of the previous segment" };
    }
    previousStart = span?.start ?? previousStart;
    yield* checkText(`${place}.speakerId`, segment.speakerId, limits.speakerIdChars);
    yield* checkWords(place, segment.words, span);
  }
}

/**
 * Finds violations in the words of a segment. It allocates nothing for a valid word, since there
 * are many words.
 */
function* checkWords(
  segment: string,
  words: readonly PlainWord[],
  bounds: Span | undefined,
): Generator<FieldViolation> {
  const { start, end } = bounds ?? { start: 0, end: Infinity };
  let previousStart = 0;
  for (const [index, word] of words.entries()) {
    const span = spanOf(word);
    const isPlaced = span && span.start >= start && span.start >= previousStart && span.end <= end;
    const { confidence, spoken = "" } = word;
    if (!isPlaced || !isWord(word.word) || !isConfidence(confidence) || !isWord(spoken)) {
      const place = `${segment}.words[${index}]`;
      yield* span
        ? explainPlace(place, span, { start, end }, previousStart)
        : explainSpan(place, word);
      yield* checkWord(`${place}.word`, word.word);
      yield* checkConfidence(`${place}.confidence`, confidence);
      yield* checkWord(`${place}.spoken`, spoken);
    }
    previousStart = span?.start ?? previousStart;
  }
}

function* explainPlace(
  place: string,
  span: Span,
  bounds: Span,
  previousStart: number,
): Generator<FieldViolation> {
  if (span.start < bounds.start) {
    yield { field: `${place}.startTime`, description: "is before the start of its segment" };
  } else if (span.start < previousStart) {
    yield { field: `${place}.startTime`, description: "is before that of the previous word" };
  }
  if (span.end > bounds.end) {
    yield { field: `${place}.endTime`, description: "is after the end of its segment" };
  }
}

/** A span of time in nanoseconds, exact up to 2500 hours. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the span of a segment or word; undefined if explainSpan() finds violations. */
function spanOf({ startTime, endTime }: PlainTimes): Span | undefined {
  if (timeTrouble(startTime) !== undefined || timeTrouble(endTime) !== undefined) return undefined;
  const [start, end] = [nanosecondsOf(startTime), nanosecondsOf(endTime)];
  return start <= end ? { start, end } : undefined;
}

function* explainSpan(
  place: string,
  { startTime, endTime }: PlainTimes,
): Generator<FieldViolation> {
  const [start, end] = [timeTrouble(startTime), timeTrouble(endTime)];
  if (start !== undefined) yield { field: `${place}.startTime`, description: start };
  if (end !== undefined) yield { field: `${place}.endTime`, description: end };
  if (start === undefined && end === undefined) {
    yield { field: `${place}.endTime`, description: "is before its startTime" };
  }
}

const secondsMax = BigInt(limits.hours * 3600);

/** Returns what is wrong with a time in a recording, or undefined. */
export function timeTrouble(time: PlainDuration | undefined): string | undefined {
  if (!time) return 'is required, for example "1.500s"';
  const { seconds, nanos } = time;
  if (seconds < 0n || nanos < 0) return "is negative";
  if (nanos > 999_999_999) return "has nanos above 999999999";
  const isPast = seconds > secondsMax || (seconds === secondsMax && nanos > 0);
  return isPast ? `is after ${limits.hours} hours` : undefined;
}

export function nanosecondsOf(time: PlainDuration | undefined): number {
  return time ? Number(time.seconds) * 1e9 + time.nanos : 0;
}

const controlCharacter = /[^\P{Cc}\t\n]/u;

function isWord(word: string): boolean {
  return word.length <= limits.wordChars && word.isWellFormed() && !controlCharacter.test(word);
}

function isConfidence(confidence: number | undefined): boolean {
  return confidence === undefined || (confidence >= 0 && confidence <= 1);
}

function* checkConfidence(
  field: string,
  confidence: number | undefined,
): Generator<FieldViolation> {
  if (!isConfidence(confidence)) yield { field, description: `must be 0 to 1, not ${confidence}` };
}

function* checkWord(field: string, word: string): Generator<FieldViolation> {
  if (controlCharacter.test(word)) {
    yield { field, description: "has a control character; only tab and newline are allowed" };
  } else {
    yield* checkText(field, word, limits.wordChars);
  }
}
