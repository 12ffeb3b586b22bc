import { firstIndex } from "../../spoken-text.ts";
import { type Base, type EditedParagraph, segmentOfWord } from "./base.ts";
import { spanOfParagraph } from "./review.ts";

/** What was recognized where a paragraph is said. */
export interface RecognizedText {
  readonly text: string;
  /** The words of the recognized version, in order, with their offsets in the text. */
  readonly words: readonly { readonly word: number; readonly offset: number }[];
}

/** How much more alike two words of the same speaker are; the same times count 1. */
const speakerShare = 0.5;

/**
 * Returns what an earlier version has at the time of a paragraph; undefined if that is nothing, or
 * if the paragraph has no run. A word of the version belongs to the paragraph that has the word at
 * the most similar time; words that were deleted since belong to that of the word before them in
 * their segment.
 */
export function recognized(
  version: Base,
  base: Base,
  paragraph: EditedParagraph,
): RecognizedText | undefined {
  const span = paragraph.from < paragraph.to ? spanOfParagraph(base, paragraph) : undefined;
  if (!span) return undefined;
  const segments = segmentsWithin(version, span.start.seconds, span.end.seconds);
  const first = Math.min(...segments.map(({ from }) => version.starts[from] ?? 0));
  const last = Math.max(...segments.map(({ end }) => end));
  const similar = new SimilarWords(version, base, { first, last });
  const isOwn = (word: number | undefined): boolean =>
    word !== undefined && paragraph.from <= word && word < paragraph.to;
  const own = segments.flatMap(({ from, to }) => {
    const found = Array.from({ length: to - from }, (_, at) => similar.to(from + at));
    let before = found.find((word) => word !== undefined);
    return found.flatMap((word, at) => {
      before = word ?? before;
      return isOwn(before) ? [from + at] : [];
    });
  });
  return own.length === 0 ? undefined : joined(version, own);
}

/** The words of a segment, and the latest end of one. */
interface SegmentWords {
  readonly from: number;
  readonly to: number;
  readonly end: number;
}

/** Returns the segments of which words are said in a span. */
function segmentsWithin(version: Base, start: number, end: number): SegmentWords[] {
  return version.segments.flatMap((_, index) => {
    const [from = 0, to = 0] = [version.firsts[index], version.firsts[index + 1]];
    if (from === to || (version.starts[from] ?? 0) > end) return [];
    const latest = version.ends.subarray(from, to).reduce((one, other) => Math.max(one, other));
    return latest < start ? [] : [{ from, to, end: latest }];
  });
}

/** Finds the words of the base that are said when words of another version are. */
class SimilarWords {
  readonly #version: Base;
  readonly #base: Base;
  /** The words of the base in the order of their starts. */
  readonly #words: readonly number[];
  /** The duration of the longest of them. */
  readonly #longest: number;

  constructor(
    version: Base,
    base: Base,
    { first, last }: { readonly first: number; readonly last: number },
  ) {
    const { starts, ends } = base;
    this.#version = version;
    this.#base = base;
    this.#words = Array.from(starts.keys())
      .filter((word) => (ends[word] ?? 0) >= first && (starts[word] ?? 0) <= last)
      .toSorted((one, other) => (starts[one] ?? 0) - (starts[other] ?? 0));
    const durations = this.#words.map((word) => (ends[word] ?? 0) - (starts[word] ?? 0));
    this.#longest = durations.reduce((one, other) => Math.max(one, other), 0);
  }

  /** Returns the word at the most similar time; undefined if none is said at the same time. */
  to(word: number): number | undefined {
    const { starts, ends } = this.#version;
    const [start = 0, end = 0] = [starts[word], ends[word]];
    const isAfter = (at: number) => (this.#base.starts[this.#words[at] ?? 0] ?? 0) > end;
    let best: number | undefined;
    let most = 0;
    for (let at = firstIndex(this.#words.length, isAfter) - 1; at >= 0; at -= 1) {
      const other = this.#words[at] ?? 0;
      if ((this.#base.starts[other] ?? 0) < start - this.#longest) break;
      const share = this.#share(other, start, end);
      const likeness = share > 0 && this.#isSameSpeaker(word, other) ? share + speakerShare : share;
      if (likeness > most) [best, most] = [other, likeness];
    }
    return best;
  }

  /** Returns the share of the time of both words in which both are said: 1 for the same times. */
  #share(other: number, start: number, end: number): number {
    const [otherStart = 0, otherEnd = 0] = [this.#base.starts[other], this.#base.ends[other]];
    const both = Math.min(end, otherEnd) - Math.max(start, otherStart);
    const all = Math.max(end, otherEnd) - Math.min(start, otherStart);
    if (all === 0) return 1;
    // A word without a duration is said at one moment of the other one.
    const isMoment = both === 0 && (start === end || otherStart === otherEnd);
    return isMoment ? Number.EPSILON : Math.max(0, both) / all;
  }

  #isSameSpeaker(word: number, other: number): boolean {
    return speakerOf(this.#version, word) === speakerOf(this.#base, other);
  }
}

function speakerOf(base: Base, word: number): string {
  return base.segments[segmentOfWord(base, word)]?.speakerId ?? "";
}

/** Joins words, with a space where a segment ends without one or words are left out. */
function joined(version: Base, own: readonly number[]): RecognizedText {
  let text = "";
  const words = own.map((word, at) => {
    const part = version.words[word]?.word ?? "";
    const isNext =
      own[at - 1] === word - 1 && segmentOfWord(version, word - 1) === segmentOfWord(version, word);
    const isSpaced = text === "" || /\s$/.test(text) || /^\s/.test(part) || part === "";
    if (!isNext && !isSpaced) text += " ";
    const offset = text.length;
    text += part;
    return { word, offset };
  });
  return { text, words };
}
