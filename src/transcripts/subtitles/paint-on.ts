import type { SpokenSegment } from "../spoken.ts";
import { atomsOf, type Atom } from "../../cues/atoms.ts";
import { subtitleRules } from "../../cues/subtitle-rules.ts";

/** What the screen shows from `startMs` to before `endMs`, while captions appear word by word. */
export interface Frame {
  readonly startMs: number;
  readonly endMs: number;
  /** The lines from top to bottom; the last one ends with the new word. */
  readonly lines: readonly FrameLine[];
}

/** A line, which has words of one segment only. */
export interface FrameLine {
  /** The id of the speaker; empty if unknown. */
  readonly speakerId: string;
  readonly text: string;
}

/**
 * Yields the frames of a transcript, in order and without overlaps. Each frame adds one word, when
 * the word is spoken, to the end of the last line. If the line is full or the segment has ended,
 * the word begins a new line, and the line above moves up. A frame is shown until the next one, for
 * at most 7 s; after a longer pause the screen is empty. If speakers talk at the same time, their
 * lines follow one another, and their words are later than the speech. `limitMs` is the length of
 * the recording; undefined if unknown.
 */
export function* paintOn(
  segments: readonly SpokenSegment[],
  limitMs = Infinity,
): Generator<Frame, void, undefined> {
  const lines = segments.flatMap(linesOf).toSorted((one, other) => one.startMs - other.startMs);
  const spokenEndMs = lines.reduce((endMs, { atoms }) => {
    return Math.max(endMs, atoms.at(-1)?.endMs ?? 0);
  }, 0);
  const lastMs = Math.max(limitMs, spokenEndMs);
  const starts = startsOf(lines, lastMs);
  let at = 0;
  let above: FrameLine[] = [];
  for (const { speakerId, atoms } of lines) {
    let text = "";
    for (const atom of atoms) {
      const startMs = starts[at] ?? 0;
      const nextMs = starts[at + 1] ?? Math.max(lastMs, startMs + 1);
      const endMs = Math.min(nextMs, startMs + subtitleRules.msMax);
      text += text !== "" && atom.spaced ? ` ${atom.text}` : atom.text;
      yield { startMs, endMs, lines: [...above, { speakerId, text }] };
      at += 1;
      if (endMs < nextMs) above = [];
      else if (atom === atoms.at(-1)) above = [{ speakerId, text }];
    }
  }
}

/** A line with its words. */
interface SpokenLine {
  readonly speakerId: string;
  readonly startMs: number;
  readonly atoms: readonly Atom[];
}

/** Fills lines with the words of a segment. A pause of more than 7 s ends a line. */
function linesOf(segment: SpokenSegment): SpokenLine[] {
  const lines: (SpokenLine & { readonly atoms: Atom[] })[] = [];
  let chars = 0;
  let previousMs = 0;
  for (const atom of atomsOf(segment.words)) {
    const line = lines.at(-1);
    const charsAfter = chars + (atom.spaced ? 1 : 0) + atom.chars;
    const isPause = atom.startMs - previousMs > subtitleRules.msMax;
    if (line && charsAfter <= subtitleRules.lineChars && !isPause) {
      line.atoms.push(atom);
      chars = charsAfter;
    } else {
      lines.push({ speakerId: segment.speakerId, startMs: atom.startMs, atoms: [atom] });
      chars = atom.chars;
    }
    previousMs = atom.startMs;
  }
  return lines;
}

/** The time between words whose own times are the same: three words a second, as in slow speech. */
const wordMs = 333;

/**
 * Returns the starts of all words in increasing order. Words without times of their own, and words
 * that are late because speakers talk at the same time, share the time until the next word.
 */
function startsOf(lines: readonly SpokenLine[], lastMs: number): Float64Array {
  const starts = Float64Array.from(lines.flatMap(({ atoms }) => atoms.map((atom) => atom.startMs)));
  for (let at = 1; at < starts.length; at += 1) {
    starts[at] = Math.max(starts[at] ?? 0, starts[at - 1] ?? 0);
  }
  let freeMs = 0;
  for (let from = 0; from < starts.length;) {
    let to = from + 1;
    while (to < starts.length && starts[to] === starts[from]) to += 1;
    const startMs = Math.max(starts[from] ?? 0, freeMs);
    const roomMs = (starts[to] ?? lastMs) - startMs;
    const stepMs = Math.max(1, Math.min(wordMs, Math.floor(roomMs / (to - from))));
    for (let at = from; at < to; at += 1) starts[at] = startMs + (at - from) * stepMs;
    freeMs = (starts[to - 1] ?? 0) + 1;
    from = to;
  }
  return starts;
}
