import { atOnce } from "../at-once.ts";
import { anchorsOfSteps } from "./anchors.ts";
import { shortestScriptSteps, type Matches } from "./shortest-script.ts";

/**
 * The default cost limit of a comparison, in search steps, which take about a second. Any remaining
 * words are reported as replaced.
 */
const stepsMaxDefault = 12_000_000;
/** The maximum number of edits (removed and added words) in a shortest script. */
export const editsMax = 1_000;
/** The number of pairs after which work yields. They take less than 1 ms. */
const stepPairs = 4_096;

/**
 * Pairs the words of two texts, which are given as numbers: equal words have equal numbers. With
 * few edits, the result is a longest common subsequence (Myers). With more edits, the text is split
 * at words that occur once on each side. If there are no such words, the furthest-reaching script
 * of editsMax edits is used. The result is deterministic.
 */
export function matchWords(
  before: Int32Array,
  after: Int32Array,
  stepsMax = stepsMaxDefault,
): Matches {
  return atOnce(matchWordsSteps(before, after, stepsMax));
}

/** Does the same as matchWords(), and yields often, so that the work can be done in slices. */
export function* matchWordsSteps(
  before: Int32Array,
  after: Int32Array,
  stepsMax = stepsMaxDefault,
): Generator<void, Matches, void> {
  const matches: Matches = { before: [], after: [] };
  const budget = { steps: stepsMax };
  // The remaining ranges, with the next range on top.
  const ranges: Range[] = [{ from: 0, to: before.length, otherFrom: 0, otherTo: after.length }];
  for (let range = ranges.pop(); range; range = ranges.pop()) {
    yield* matchRange({ before, after, budget, matches, ranges }, range);
  }
  return matches;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly otherFrom: number;
  readonly otherTo: number;
}

interface Work {
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly budget: { steps: number };
  readonly matches: Matches;
  readonly ranges: Range[];
}

function* matchRange(work: Work, range: Range): Generator<void, void, void> {
  const { before, after, budget, matches } = work;
  let { from, to, otherFrom, otherTo } = range;
  const add = (one: number, other: number): void => {
    matches.before.push(one);
    matches.after.push(other);
  };
  for (; from < to && otherFrom < otherTo && before[from] === after[otherFrom]; otherFrom += 1) {
    add(from, otherFrom);
    from += 1;
    if (from % stepPairs === 0) yield;
  }
  let same = 0;
  const shorter = Math.min(to - from, otherTo - otherFrom);
  while (same < shorter && before[to - 1 - same] === after[otherTo - 1 - same]) same += 1;
  to -= same;
  otherTo -= same;
  const tail = { from: to, to: to + same, otherFrom: otherTo, otherTo: otherTo + same };
  if (from < to && otherFrom < otherTo && budget.steps > 0) {
    const [one, other] = [before.subarray(from, to), after.subarray(otherFrom, otherTo)];
    const { pairs, end, otherEnd } = yield* shortestScriptSteps(one, other, { editsMax, budget });
    const isWhole = end === one.length && otherEnd === other.length;
    if (!isWhole) {
      if (same > 0) work.ranges.push(tail);
      yield;
      if (yield* splitAtAnchors(work, { from, to, otherFrom, otherTo })) return;
      work.ranges.push({ from: from + end, to, otherFrom: otherFrom + otherEnd, otherTo });
    }
    for (const [index, at] of pairs.before.entries()) {
      add(from + at, otherFrom + (pairs.after[index] ?? 0));
      if (index % stepPairs === stepPairs - 1) yield;
    }
    if (!isWhole) return;
  }
  for (let index = 0; index < same; index += 1) {
    add(tail.from + index, tail.otherFrom + index);
    if (index % stepPairs === stepPairs - 1) yield;
  }
}

/**
 * Pushes the ranges before, between and after the anchors of a range. Each range after an anchor
 * begins with that anchor. Returns whether there are any anchors.
 */
function* splitAtAnchors(
  { before, after, budget, ranges }: Work,
  range: Range,
): Generator<void, boolean, void> {
  const { from, to, otherFrom, otherTo } = range;
  budget.steps -= to - from + (otherTo - otherFrom);
  const [one, other] = [before.subarray(from, to), after.subarray(otherFrom, otherTo)];
  const anchors = yield* anchorsOfSteps(one, other);
  let [end, otherEnd] = [to, otherTo];
  for (let index = anchors.before.length - 1; index >= 0; index -= 1) {
    const at = from + (anchors.before[index] ?? 0);
    const otherAt = otherFrom + (anchors.after[index] ?? 0);
    ranges.push({ from: at, to: end, otherFrom: otherAt, otherTo: otherEnd });
    [end, otherEnd] = [at, otherAt];
  }
  if (end < to) ranges.push({ from, to: end, otherFrom, otherTo: otherEnd });
  return end < to;
}
