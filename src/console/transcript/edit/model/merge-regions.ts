import { hunksOfSteps, type Side, type SideHunk } from "./merge-sides.ts";

/**
 * A stretch of the base that one side or both have changed: each side has its own tokens
 * [from, to) for it.
 */
export interface Region {
  readonly from: number;
  readonly to: number;
  readonly mine: TokenRange;
  readonly theirs: TokenRange;
  /** The side whose tokens are merged; "both" if they are the same, "clash" if they contradict. */
  readonly taking: "mine" | "theirs" | "both" | "clash";
}

export interface TokenRange {
  readonly from: number;
  readonly to: number;
}

/** Returns the stretches of the base that have changed, in order, and yields often. */
export function* regionsOfSteps(mine: Side, theirs: Side): Generator<void, Region[], void> {
  const own = yield* hunksOfSteps(mine);
  const other = yield* hunksOfSteps(theirs);
  const regions: Region[] = [];
  let [ownAt, otherAt] = [0, 0];
  while (ownAt < own.length || otherAt < other.length) {
    const first = earliest(own[ownAt], other[otherAt]);
    const range = { from: first.from, to: first.to };
    const taken: { mine: SideHunk[]; theirs: SideHunk[] } = { mine: [], theirs: [] };
    for (;;) {
      const [one, next] = [own[ownAt], other[otherAt]];
      if (one && overlaps(one, range)) {
        range.to = Math.max(range.to, one.to);
        taken.mine.push(one);
        ownAt += 1;
      } else if (next && overlaps(next, range)) {
        range.to = Math.max(range.to, next.to);
        taken.theirs.push(next);
        otherAt += 1;
      } else break;
    }
    const [one, next] = [
      tokensOfRange(mine, range, taken.mine),
      tokensOfRange(theirs, range, taken.theirs),
    ];
    const isBoth = taken.mine.length > 0 && taken.theirs.length > 0;
    const isSame = isBoth && saysSame(mine, one, theirs, next);
    const taking = isSame ? "both" : isBoth ? "clash" : taken.mine.length > 0 ? "mine" : "theirs";
    regions.push({ ...range, mine: one, theirs: next, taking });
    yield;
  }
  return regions;
}

function earliest(one: SideHunk | undefined, other: SideHunk | undefined): SideHunk {
  if (one && other) return isBefore(other, one) ? other : one;
  const hunk = one ?? other;
  if (!hunk) throw new Error("there is no hunk");
  return hunk;
}

function isBefore(one: SideHunk, other: SideHunk): boolean {
  return one.from < other.from || (one.from === other.from && one.to < other.to);
}

/** Whether two ranges of the base have a word in common, or are the same place between words. */
function overlaps(one: TokenRange, other: TokenRange): boolean {
  if (one.from === other.from && one.to === other.to) return true;
  return one.from < other.to && other.from < one.to;
}

/** Returns the tokens of a side for a range of the base: its hunks, and the words between them. */
function tokensOfRange(
  { places }: Side,
  { from, to }: TokenRange,
  hunks: readonly SideHunk[],
): TokenRange {
  const ranges = hunks.map(({ tokenFrom, tokenTo }) => ({ from: tokenFrom, to: tokenTo }));
  for (let word = from; word < to; word += 1) {
    const place = places[word] ?? -1;
    if (place >= 0) ranges.push({ from: place, to: place + 1 });
  }
  if (ranges.length === 0) return { from: 0, to: 0 };
  return {
    from: ranges.reduce((least, range) => Math.min(least, range.from), Infinity),
    to: ranges.reduce((most, range) => Math.max(most, range.to), 0),
  };
}

/** Whether the tokens of two sides say the same. The kind of whitespace does not matter. */
function saysSame(one: Side, range: TokenRange, other: Side, otherRange: TokenRange): boolean {
  const said = saidIn(other, otherRange, "");
  return saidIn(one, range, "") === said || saidIn(one, range, " ") === said;
}

/** Returns what tokens say; `space` is put before each paragraph, as when a text is saved. */
function saidIn({ tokens }: Side, { from, to }: TokenRange, space: "" | " "): string {
  const texts = tokens.slice(from, to).map(({ text, begins }) => {
    const before = { segment: " ", paragraph: space, "": "" }[begins];
    return before + text;
  });
  return texts.join("").replaceAll(/\s+/g, " ").trim();
}
