import { type BrokenRule, brokenRules } from "../../../../cues/broken-rules.ts";
import type { Cue } from "../../../../cues/cue.ts";
import { CueCutter } from "../../../../cues/cue-cutter.ts";
import type { TimedWords } from "../../../../cues/timed-words.ts";
import { firstIndex } from "../../spoken-text.ts";
import { timedWords } from "../../subtitles/timed-segments.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import { groupsOf, runOf, wordsOfSegment } from "../model/edited-segments.ts";
import { noRetimings, type Retimings } from "../model/retimings.ts";

/** An edited text, of which subtitles are made. */
export interface CuttableText {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings: Retimings;
  /** The length of the recording in ms; Infinity if it is unknown. */
  readonly limitMs: number;
}

/** A place in a paragraph; the offset is in UTF-16 code units. */
export interface CuePlace {
  readonly paragraph: EditedParagraph;
  readonly offset: number;
}

type Lines = Cue["lines"];
type Group = readonly EditedParagraph[];

/** The subtitles of an edited text, and where they are in it. */
export class CutText {
  readonly cues: readonly Cue[];
  /** The indices of the cues that break a rule, in order. */
  readonly broken: readonly number[];
  readonly #parts: EditedCues;
  readonly #indices: ReadonlyMap<Lines, number>;

  constructor(parts: EditedCues, cues: readonly Cue[], broken: readonly number[]) {
    this.cues = cues;
    this.broken = broken;
    this.#parts = parts;
    this.#indices = new Map(cues.map(({ lines }, at) => [lines, at]));
  }

  /** Returns where the words of a cue begin. */
  placeOf(at: number): CuePlace | undefined {
    const lines = this.cues[at]?.lines;
    return lines && this.#parts.placeOf(lines);
  }

  /** Returns the index of the cue with the word at a place; undefined if the text is newer. */
  indexAt(place: CuePlace): number | undefined {
    const lines = this.#parts.linesAt(place);
    return lines && this.#indices.get(lines);
  }
}

/** Cuts an edited text into subtitles, again and again: only what has changed is cut again. */
export class EditedCues {
  #base: Base | undefined;
  #segments = new WeakMap<EditedParagraph, TimedSegment>();
  #cutter = new CueCutter();
  readonly #inText = new WeakMap<Lines, { readonly segment: TimedSegment; readonly at: number }>();
  readonly #broken = new WeakMap<Lines, { readonly ms: number; readonly rules: BrokenRule[] }>();

  /** Returns the subtitles that the service makes of the text once it is saved. Yields often. */
  *cut({ base, paragraphs, retimings, limitMs }: CuttableText): Generator<void, CutText, void> {
    if (base !== this.#base) {
      this.#base = base;
      this.#segments = new WeakMap();
      this.#cutter = new CueCutter();
    }
    const retimed = [...retimings].toSorted(([one], [other]) => one - other);
    const segments: TimedSegment[] = [];
    for (const group of groupsOf(paragraphs)) {
      segments.push(this.#segmentOf(base, group, retimed));
      yield;
    }
    const cues = yield* this.#cutter.cut(
      segments.map(({ timed }) => timed),
      limitMs,
    );
    for (const segment of segments) {
      this.#place(segment);
      yield;
    }
    const broken: number[] = [];
    for (const [at, cue] of cues.entries()) {
      if (this.rulesOf(cue).length > 0) broken.push(at);
      if (at % 16 === 0) yield;
    }
    return new CutText(this, cues, broken);
  }

  /** Returns the rules that a cue breaks. */
  rulesOf(cue: Cue): readonly BrokenRule[] {
    const ms = cue.endMs - cue.startMs;
    const known = this.#broken.get(cue.lines);
    if (known?.ms === ms) return known.rules;
    const rules = brokenRules(cue);
    this.#broken.set(cue.lines, { ms, rules });
    return rules;
  }

  placeOf(lines: Lines): CuePlace | undefined {
    const found = this.#inText.get(lines);
    if (!found) return undefined;
    let chars = found.segment.starts[found.at] ?? 0;
    for (const paragraph of found.segment.group) {
      const count = charCount(paragraph.text);
      if (chars < count) return { paragraph, offset: offsetOf(paragraph.text, chars) };
      chars -= count;
    }
    return undefined;
  }

  linesAt({ paragraph, offset }: CuePlace): Lines | undefined {
    const segment = this.#segments.get(paragraph);
    if (!segment) return undefined;
    const before = segment.group.slice(0, segment.group.indexOf(paragraph));
    const chars =
      before.reduce((sum, { text }) => sum + charCount(text), 0) +
      charCount(paragraph.text.slice(0, offset));
    const { starts, lines } = segment;
    return lines[Math.max(0, firstIndex(starts.length, (at) => (starts[at] ?? 0) > chars) - 1)];
  }

  #segmentOf(base: Base, group: Group, retimed: readonly Retiming[]): TimedSegment {
    const [first] = group;
    const { from, to } = runOf(group);
    // Words that are inserted at an edge take their time from the neighbors of the run.
    const start = firstIndex(retimed.length, (at) => (retimed[at]?.[0] ?? 0) >= from - 1);
    const end = firstIndex(retimed.length, (at) => (retimed[at]?.[0] ?? 0) > to);
    const own = retimed.slice(start, end);
    const known = first && this.#segments.get(first);
    if (known && isSame(known.group, group) && isSame(known.retimed.flat(), own.flat())) {
      return known;
    }
    const words = wordsOfSegment(base, group, own.length > 0 ? new Map(own) : noRetimings);
    const timed = { speakerId: first?.speaker ?? "", words: timedWords(words) };
    const segment = { group, retimed: own, timed, lines: [], starts: [] };
    for (const paragraph of group) this.#segments.set(paragraph, segment);
    return segment;
  }

  /** Remembers where the cues of a segment begin. */
  #place(segment: TimedSegment): void {
    const lines = this.#cutter.linesOf(segment.timed);
    if (isSame(lines, segment.lines)) return;
    segment.lines = lines;
    let chars = 0;
    segment.starts = lines.map((one, at) => {
      const start = chars;
      for (const line of one) chars += charCount(line);
      this.#inText.set(one, { segment, at });
      return start;
    });
  }
}

/** A word of the base, and the times that were set for it. */
type Retiming = Retimings extends ReadonlyMap<infer Word, infer Times> ? [Word, Times] : never;

/** A segment of the edited text with its cues. */
interface TimedSegment {
  readonly group: Group;
  readonly retimed: readonly Retiming[];
  readonly timed: TimedWords;
  /** The lines of the cues, in the order of the words. */
  lines: readonly Lines[];
  /** The number of characters of the segment before each cue, without whitespace. */
  starts: readonly number[];
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at]);
}

/** Returns the number of UTF-16 code units that are not whitespace. */
function charCount(text: string): number {
  return text.replaceAll(/\s+/g, "").length;
}

/** Returns the offset of the character after this number of characters without whitespace. */
function offsetOf(text: string, chars: number): number {
  let left = chars;
  for (const { index, 0: run } of text.matchAll(/\S+/g)) {
    if (left < run.length) return index + left;
    left -= run.length;
  }
  return text.length;
}
