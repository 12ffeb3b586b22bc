import type { SegmentJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { atOnce } from "../../std/at-once.ts";
import { paragraphEnd } from "../../std/paragraph-end.ts";
import { secondsOf } from "../text/numbers.ts";

/** A paragraph: a segment, or a part of a segment that is too long. */
export interface Paragraph {
  readonly text: string;
  /** Seconds from the start of the recording. */
  readonly start: number;
  /** The key of the speaker in the transcript's speakers; "" if the speaker is unknown. */
  readonly speaker: string;
  /** Whether the start is estimated, because the model gave no word times. */
  readonly isEstimated: boolean;
  /** Whether the speaker differs from that of the previous paragraph. */
  readonly isTurn: boolean;
  /** The index of the paragraph's first word among all words of the text. */
  readonly firstWord: number;
}

/** The text of a transcript in paragraphs, and the times of its words in arrays. */
export interface SpokenText {
  readonly paragraphs: readonly Paragraph[];
  readonly wordCount: number;
  /**
   * For each word in reading order: its start and end in seconds, and its offset in the text of its
   * paragraph, in UTF-16 code units.
   */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly offsets: Uint32Array;
  /**
   * The words in the order of their starts; undefined if this is the reading order, which it is
   * unless speakers overlap.
   */
  readonly byTime: Uint32Array | undefined;
}

const known = new WeakMap<readonly SegmentJson[], SpokenText>();

/**
 * Converts the segments of a transcript; segments without words are omitted. The same list always
 * returns the same object.
 */
export function spokenText(segments: readonly SegmentJson[]): SpokenText {
  return atOnce(spokenTextSteps(segments));
}

/** Does the same as spokenText(), and yields after each segment. */
export function* spokenTextSteps(
  segments: readonly SegmentJson[],
): Generator<void, SpokenText, void> {
  const before = known.get(segments);
  if (before) return before;
  const wordCount = segments.reduce((sum, { words = [] }) => sum + words.length, 0);
  const starts = new Float64Array(wordCount);
  const ends = new Float64Array(wordCount);
  const offsets = new Uint32Array(wordCount);
  const paragraphs: Paragraph[] = [];
  let word = 0;
  let isOrdered = true;
  for (const { words = [], speakerId: speaker = "" } of segments) {
    for (let from = 0; from < words.length;) {
      const end = paragraphEnd(words.length, from, (at) => words[at]?.word ?? "");
      const firstWord = word;
      const isEstimated = words[from]?.estimatedTimes === true;
      let text = "";
      for (; from < end; from++, word++) {
        const { startTime, endTime, word: said = "" } = words[from] ?? {};
        starts[word] = secondsOf(startTime);
        ends[word] = secondsOf(endTime);
        offsets[word] = text.length;
        text += said;
        if (word > 0 && (starts[word] ?? 0) < (starts[word - 1] ?? 0)) isOrdered = false;
      }
      const isTurn = speaker !== "" && paragraphs.at(-1)?.speaker !== speaker;
      const start = starts[firstWord] ?? 0;
      paragraphs.push({ text, start, isEstimated, speaker, isTurn, firstWord });
    }
    yield;
  }
  const byTime = isOrdered ? undefined : orderByTime(starts);
  const text = { paragraphs, wordCount, starts, ends, offsets, byTime };
  known.set(segments, text);
  return text;
}

function orderByTime(starts: Float64Array): Uint32Array {
  return Uint32Array.from(starts.keys()).toSorted(
    (one, other) => (starts[one] ?? 0) - (starts[other] ?? 0) || one - other,
  );
}

/**
 * The tolerance for players that report a time slightly before the requested one after seeking.
 */
const clockSlackSeconds = 0.002;

/**
 * The word that is played at a given time, or the last word before that time; -1 before the first
 * word.
 */
export function wordAt({ starts, byTime }: SpokenText, seconds: number): number {
  const startAt = (at: number) => starts[byTime?.[at] ?? at] ?? 0;
  const after = firstIndex(starts.length, (at) => startAt(at) > seconds + clockSlackSeconds);
  return after === 0 ? -1 : (byTime?.[after - 1] ?? after - 1);
}

/** The index of the paragraph that contains a word. */
export function paragraphOfWord({ paragraphs }: SpokenText, word: number): number {
  return firstIndex(paragraphs.length, (at) => (paragraphs[at]?.firstWord ?? 0) > word) - 1;
}

/** The word at an offset in a paragraph's text. */
export function wordAtOffset(text: SpokenText, paragraph: number, offset: number): number {
  const first = text.paragraphs[paragraph]?.firstWord ?? 0;
  const count = (text.paragraphs[paragraph + 1]?.firstWord ?? text.wordCount) - first;
  return first + firstIndex(count, (at) => (text.offsets[first + at] ?? 0) > offset) - 1;
}

/** The range of a word in its paragraph's text, without the whitespace around it. */
export function extentOfWord(text: SpokenText, word: number): { from: number; to: number } {
  const at = paragraphOfWord(text, word);
  const paragraph = text.paragraphs[at];
  const isLast = word + 1 === (text.paragraphs[at + 1]?.firstWord ?? text.wordCount);
  const begin = text.offsets[word] ?? 0;
  const said = (paragraph?.text ?? "").slice(begin, isLast ? undefined : text.offsets[word + 1]);
  const from = begin + said.length - said.trimStart().length;
  return { from, to: Math.max(from, begin + said.trimEnd().length) };
}

/**
 * The first index for which `isTrueFor` is true, or `count` if there is none. `isTrueFor` must also
 * be true for all later indexes.
 */
export function firstIndex(count: number, isTrueFor: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrueFor(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
