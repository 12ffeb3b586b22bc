import type {
  SegmentJson,
  WordJson,
} from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { atOnce } from "../../../../std/at-once.ts";
import { firstIndex, spokenText, spokenTextSteps } from "../../spoken-text.ts";
import type { Pin } from "./pin.ts";

/**
 * The version of a transcript that is being edited, as it was received. All edits are relative to
 * it. It is plain data, so that a worker can receive it as a message.
 */
export interface Base {
  readonly segments: readonly SegmentJson[];
  /** The words of all segments, in reading order. */
  readonly words: readonly WordJson[];
  /** All words joined. */
  readonly text: string;
  /** For each word, its offset in `text`, in UTF-16 code units; the last item is the length. */
  readonly offsets: Uint32Array;
  /** For each word, its start and end in seconds. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** For each segment, the index of its first word; the last item is the number of words. */
  readonly firsts: Uint32Array;
}

/** A paragraph of the text that is being edited. */
export interface EditedParagraph {
  readonly text: string;
  /** The key of the speaker in the transcript's speakers; "" if the speaker is unknown. */
  readonly speaker: string;
  /**
   * The paragraph's run: the words [from, to) of the base that it replaces. The runs of all
   * paragraphs are in order, and each word of the base belongs to one run. A run may be empty.
   */
  readonly from: number;
  readonly to: number;
  /**
   * Whether the paragraph continues the segment of the paragraph before it. Long segments have
   * several paragraphs.
   */
  readonly isSoft: boolean;
  /** The times that were set for words that were typed, in order; absent if there are none. */
  readonly pins?: readonly Pin[];
}

/** Collects the words of segments. What reading them has already computed is not computed again. */
export function baseOf(segments: readonly SegmentJson[]): Base {
  return atOnce(baseOfSteps(segments));
}

/** Does the same as baseOf(), and yields after each segment. */
export function* baseOfSteps(segments: readonly SegmentJson[]): Generator<void, Base, void> {
  const { wordCount, starts, ends, paragraphs } = yield* spokenTextSteps(segments);
  const words: WordJson[] = [];
  const offsets = new Uint32Array(wordCount + 1);
  const firsts = new Uint32Array(segments.length + 1);
  let offset = 0;
  for (const [index, segment] of segments.entries()) {
    for (const word of segment.words ?? []) {
      words.push(word);
      offset += word.word?.length ?? 0;
      offsets[words.length] = offset;
    }
    firsts[index + 1] = words.length;
    yield;
  }
  const pieces: string[] = [];
  for (let at = 0; at < paragraphs.length; at += stepParagraphs) {
    const some = paragraphs.slice(at, at + stepParagraphs);
    pieces.push(some.map((paragraph) => paragraph.text).join(""));
    yield;
  }
  const text = pieces.join("");
  return { segments, words, text, offsets, starts, ends, firsts };
}

/** The number of paragraphs whose texts are joined before work yields. */
const stepParagraphs = 512;

/** Returns the text of the words [from, to). */
export function textOfRun(base: Base, from: number, to: number): string {
  return base.text.slice(base.offsets[from] ?? 0, base.offsets[to] ?? 0);
}

/** Returns the index of the segment that contains a word. */
export function segmentOfWord({ firsts }: Base, word: number): number {
  return firstIndex(firsts.length, (at) => (firsts[at] ?? 0) > word) - 1;
}

/** Returns the paragraphs of the unedited version, which are those that readers see. */
export function paragraphsOf(base: Base): EditedParagraph[] {
  const before = known.get(base) ?? readParagraphs(base);
  known.set(base, before);
  return [...before];
}

const known = new WeakMap<Base, readonly EditedParagraph[]>();

function readParagraphs({ segments, words, firsts }: Base): EditedParagraph[] {
  const { paragraphs } = spokenText(segments);
  let segment = 0;
  return paragraphs.map(({ text, speaker, firstWord: from }, at) => {
    const to = paragraphs[at + 1]?.firstWord ?? words.length;
    while ((firsts[segment + 1] ?? to) <= from) segment += 1;
    return { text, speaker, from, to, isSoft: from > (firsts[segment] ?? 0) };
  });
}
