import type { SegmentJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../text/numbers.ts";

/** What stands as one paragraph: a segment, or a part of one that would be too long. */
export interface Piece {
  readonly text: string;
  /** Seconds from the start of the recording. */
  readonly start: number;
  /** Key of the transcript's speakers; "" where nobody knows. */
  readonly speaker: string;
  /** Whether the one before is somebody else's. */
  readonly isTurn: boolean;
  /** Its first word, of all words of the text. */
  readonly firstWord: number;
}

/** The text of a transcript as it is read, and beside it, in arrays, when each word is heard. */
export interface SpokenText {
  readonly pieces: readonly Piece[];
  readonly wordCount: number;
  /**
   * Of each word in reading order: when it is heard, in seconds, and where it begins in the text of
   * its piece, in UTF-16 units.
   */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly offsets: Uint32Array;
  /**
   * The words in order of their starts, where that is not the order of reading: when people talk at
   * once.
   */
  readonly byTime: Uint32Array | undefined;
}

/** Words of a paragraph at most: what is longer is parted at the end of a sentence. */
export const pieceWordsMax = 150;

/** Reads the segments of a transcript; those without a word are left out. */
export function spokenText(segments: readonly SegmentJson[]): SpokenText {
  const wordCount = segments.reduce((sum, { words = [] }) => sum + words.length, 0);
  const starts = new Float64Array(wordCount);
  const ends = new Float64Array(wordCount);
  const offsets = new Uint32Array(wordCount);
  const pieces: Piece[] = [];
  let word = 0;
  let isOrdered = true;
  for (const { words = [], speakerId: speaker = "" } of segments) {
    for (let from = 0; from < words.length;) {
      const end = endOfPiece(words, from);
      const firstWord = word;
      let text = "";
      for (; from < end; from++, word++) {
        const { startTime, endTime, word: said = "" } = words[from] ?? {};
        starts[word] = secondsOf(startTime);
        ends[word] = secondsOf(endTime);
        offsets[word] = text.length;
        text += said;
        if (word > 0 && (starts[word] ?? 0) < (starts[word - 1] ?? 0)) isOrdered = false;
      }
      const isTurn = speaker !== "" && pieces.at(-1)?.speaker !== speaker;
      pieces.push({ text, start: starts[firstWord] ?? 0, speaker, isTurn, firstWord });
    }
  }
  const byTime = isOrdered ? undefined : orderByTime(starts);
  return { pieces, wordCount, starts, ends, offsets, byTime };
}

/**
 * Where the piece that begins at `from` ends: with the segment, or with a sentence in its second
 * half.
 */
function endOfPiece(words: NonNullable<SegmentJson["words"]>, from: number): number {
  if (words.length - from <= pieceWordsMax) return words.length;
  const latest = from + pieceWordsMax;
  for (let end = latest; end > from + pieceWordsMax / 2; end--) {
    if (/[.?!…]["“”»')]*\s*$/.test(words[end - 1]?.word ?? "")) return end;
  }
  return latest;
}

function orderByTime(starts: Float64Array): Uint32Array {
  return Uint32Array.from(starts.keys()).toSorted(
    (one, other) => (starts[one] ?? 0) - (starts[other] ?? 0) || one - other,
  );
}

/** Players tell a time a little before the one that they were sent to. */
const clockSlackSeconds = 0.002;

/** The word that is heard at a time, or was last; -1 before the first. */
export function wordAt({ starts, byTime }: SpokenText, seconds: number): number {
  const startAt = (at: number) => starts[byTime?.[at] ?? at] ?? 0;
  const after = firstThat(starts.length, (at) => startAt(at) > seconds + clockSlackSeconds);
  return after === 0 ? -1 : (byTime?.[after - 1] ?? after - 1);
}

/** The piece that a word stands in. */
export function pieceOfWord({ pieces }: SpokenText, word: number): number {
  return firstThat(pieces.length, (at) => (pieces[at]?.firstWord ?? 0) > word) - 1;
}

/** The word at an offset of a piece's text. */
export function wordAtOffset(text: SpokenText, piece: number, offset: number): number {
  const first = text.pieces[piece]?.firstWord ?? 0;
  const count = (text.pieces[piece + 1]?.firstWord ?? text.wordCount) - first;
  return first + firstThat(count, (at) => (text.offsets[first + at] ?? 0) > offset) - 1;
}

/** Where a word stands in the text of its piece, without the whitespace around it. */
export function extentOfWord(text: SpokenText, word: number): { from: number; to: number } {
  const at = pieceOfWord(text, word);
  const piece = text.pieces[at];
  const isLast = word + 1 === (text.pieces[at + 1]?.firstWord ?? text.wordCount);
  const begin = text.offsets[word] ?? 0;
  const said = (piece?.text ?? "").slice(begin, isLast ? undefined : text.offsets[word + 1]);
  const from = begin + said.length - said.trimStart().length;
  return { from, to: Math.max(from, begin + said.trimEnd().length) };
}

/** How many of the first `count` do not hold, where those that hold come last. */
function firstThat(count: number, holds: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
