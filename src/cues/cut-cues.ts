import type { Atom } from "./atoms.ts";
import { breakCost, joinCost } from "./break-cost.ts";
import { readingMs, type SubtitleLines, subtitleRules } from "./subtitle-rules.ts";

/**
 * Cuts the atoms of a segment into cues, and returns the end of each cue. A cue has at most the
 * lines of `shape` and, if it has more than one atom, at most 7 s. The result has the fewest cues
 * with less than 1 s until the next cue begins; among such results, the fewest cues that are read
 * faster than 17 characters a second; and among those, the best breaks. The time is linear in the
 * number of atoms, since a cue has few atoms.
 */
export function cutCues(
  atoms: readonly Atom[],
  nextStartMs: number,
  shape: SubtitleLines = subtitleRules,
): number[] {
  const count = atoms.length;
  const text = measure(atoms, nextStartMs, shape);
  const best = startOf(count);
  for (let end = 1; end <= count; end += 1) {
    for (let start = end - 1; start >= 0 && fits(text, start, end); start -= 1) {
      consider(best, text, start, end);
    }
  }
  const ends: number[] = [];
  for (let end = count; end > 0; end = best.from[end] ?? 0) ends.push(end);
  return ends.toReversed();
}

/** Measures of all atoms, by index. */
interface Text {
  readonly shape: SubtitleLines;
  /** The starts of the atoms, and then the start of the next segment. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** The number of visible characters before each atom, including spaces. */
  readonly charsBefore: Float64Array;
  readonly spaces: Uint8Array;
  /** The end of the longest line that starts with each atom. */
  readonly lineEnds: Int32Array;
  readonly breaks: Float64Array;
  /** The sum of joinCost() up to each atom. */
  readonly joins: Float64Array;
}

function measure(atoms: readonly Atom[], nextStartMs: number, shape: SubtitleLines): Text {
  const count = atoms.length;
  const text: Text = {
    shape,
    starts: new Float64Array(count + 1).fill(nextStartMs),
    ends: new Float64Array(count),
    charsBefore: new Float64Array(count + 1),
    spaces: new Uint8Array(count + 1),
    lineEnds: new Int32Array(count + 1).fill(count),
    breaks: new Float64Array(count + 1),
    joins: new Float64Array(count + 1),
  };
  let chars = 0;
  let joins = 0;
  let before: Atom | undefined;
  for (const [index, atom] of atoms.entries()) {
    text.starts[index] = atom.startMs;
    text.ends[index] = atom.endMs;
    text.spaces[index] = atom.spaced ? 1 : 0;
    text.charsBefore[index] = chars;
    chars += atom.chars + (atom.spaced ? 1 : 0);
    if (before) {
      text.breaks[index] = breakCost(before, atom);
      joins += joinCost(before, atom);
    }
    text.joins[index] = joins;
    before = atom;
  }
  text.charsBefore[count] = chars;
  let end = 0;
  for (let start = 0; start < count; start += 1) {
    while (end < count && charsOf(text, start, end + 1) <= shape.lineChars) end += 1;
    text.lineEnds[start] = end;
  }
  return text;
}

function charsOf({ charsBefore, spaces }: Text, start: number, end: number): number {
  return at(charsBefore, end) - at(charsBefore, start) - at(spaces, start);
}

/**
 * Whether atoms fit in a cue: they must fit in its lines and, if there is more than one atom, in 7
 * s.
 */
function fits(text: Text, start: number, end: number): boolean {
  const lineEnd = at(text.lineEnds, start);
  if (end > (text.shape.lines === 1 ? lineEnd : at(text.lineEnds, lineEnd))) return false;
  return (
    end === start + 1 || at(text.ends, end - 1) - at(text.starts, start) <= subtitleRules.msMax
  );
}

/**
 * The best way to cut the atoms before an index: the number of cues that break each rule, the cost
 * of the breaks, and the start of the last cue.
 */
interface Best {
  readonly short: Float64Array;
  readonly fast: Float64Array;
  readonly cost: Float64Array;
  readonly from: Int32Array;
}

function startOf(count: number): Best {
  const best: Best = {
    short: new Float64Array(count + 1).fill(Infinity),
    fast: new Float64Array(count + 1),
    cost: new Float64Array(count + 1),
    from: new Int32Array(count + 1),
  };
  best.short[0] = 0;
  return best;
}

function consider(best: Best, text: Text, start: number, end: number): void {
  const chars = charsOf(text, start, end);
  const roomMs = Math.min(subtitleRules.msMax, at(text.starts, end) - at(text.starts, start));
  const missingMs = readingMs(chars) - roomMs;
  const isShort = roomMs < subtitleRules.msMin;
  const short = at(best.short, start) + (isShort ? 1 : 0);
  const fast = at(best.fast, start) + (!isShort && missingMs > 0 ? 1 : 0);
  const difference = short - at(best.short, end) || fast - at(best.fast, end);
  if (difference > 0) return;
  const cost =
    at(best.cost, start) +
    perCue +
    at(text.breaks, end) +
    lineBreakCost(text, start, end, chars) +
    (at(text.joins, end - 1) - at(text.joins, start)) +
    Math.min(200, Math.max(0, missingMs) / 10) +
    (chars < fewChars ? fewChars - chars : 0);
  if (difference === 0 && cost >= at(best.cost, end)) return;
  best.short[end] = short;
  best.fast[end] = fast;
  best.cost[end] = cost;
  best.from[end] = start;
}

/** Returns half the cost of the best line break, which matters less than the end of a cue. */
function lineBreakCost(text: Text, start: number, end: number, chars: number): number {
  const { lineChars } = text.shape;
  if (chars <= lineChars) return 0;
  let least = Infinity;
  for (let index = at(text.lineEnds, start); index > start; index -= 1) {
    if (charsOf(text, index, end) > lineChars) break;
    least = Math.min(least, at(text.breaks, index));
  }
  return least / 2;
}

/** The cost of each cue, which prevents unnecessary cuts. */
const perCue = 25;
/** The number of characters below which a cue is too short. */
const fewChars = 12;

function at(numbers: Float64Array | Int32Array | Uint8Array, index: number): number {
  return numbers[index] ?? 0;
}
