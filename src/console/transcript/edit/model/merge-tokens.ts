import { stepWords } from "./align-tokens.ts";
import type { Region } from "./merge-regions.ts";
import type { Side, SideToken } from "./merge-sides.ts";

/** A word of the merged text, or the place of an empty paragraph. */
export interface MergedToken {
  readonly text: string;
  readonly speaker: string;
  readonly begins: SideToken["begins"];
  /** The indexes of the token on both sides; -1 if a side has not added it or has removed it. */
  readonly mine: number;
  readonly theirs: number;
  /** Their speaker, if both sides have changed the speaker. */
  readonly theirSpeaker?: string | undefined;
}

/** The three sides of a merge. */
export interface Sides {
  readonly base: Side;
  readonly mine: Side;
  readonly theirs: Side;
}

/** The merged tokens, and for each region the range of its tokens. */
export interface Merged {
  readonly tokens: readonly MergedToken[];
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
}

/**
 * Merges words, the places where segments begin, and speakers, each separately: what one side has
 * changed is taken from it. Where both sides have made different changes, mine are taken. Yields
 * often.
 */
export function* mergedTokensSteps(
  sides: Sides,
  regions: readonly Region[],
): Generator<void, Merged, void> {
  const tokens: MergedToken[] = [];
  const ranges: { from: number; to: number }[] = [];
  const mine = yield* anchorsOfSteps(sides.mine);
  const anchors = { mine, theirs: yield* anchorsOfSteps(sides.theirs) };
  let word = 0;
  yield;
  for (const region of regions) {
    for (; word < region.from; word += 1) {
      tokens.push(keptToken(sides, word));
      if (word % stepWords === 0) yield;
    }
    const from = tokens.length;
    const side = region.taking === "theirs" || region.taking === "both" ? "theirs" : "mine";
    const { from: first, to } = region[side];
    for (let at = first; at < to; at += 1) {
      if (at % stepWords === 0) yield;
      const ref = sides[side].tokens[at]?.ref ?? -1;
      const isInBoth = ref >= 0 && tokenOf(sides.mine, ref) && tokenOf(sides.theirs, ref);
      tokens.push(
        isInBoth ? keptToken(sides, ref) : addedToken(sides, { region, side, at, anchors }),
      );
    }
    ranges.push({ from, to: tokens.length });
    word = region.to;
  }
  for (; word < sides.base.tokens.length; word += 1) {
    tokens.push(keptToken(sides, word));
    if (word % stepWords === 0) yield;
  }
  return { tokens, ranges };
}

function tokenOf({ tokens, places }: Side, word: number): SideToken | undefined {
  return tokens[places[word] ?? -1];
}

/** Merges a word that both sides have kept. */
function keptToken({ base, mine, theirs }: Sides, word: number): MergedToken {
  const [before, own, other] = [base, mine, theirs].map((side) => tokenOf(side, word));
  if (!before || !own || !other) throw new Error(`word ${word} is not on every side`);
  const isFirst = merged(isSegment(before), isSegment(own), isSegment(other));
  const isClash = own.speaker !== before.speaker && own.speaker !== other.speaker;
  return {
    text: own.text === before.text ? other.text : own.text,
    speaker: merged(before.speaker, own.speaker, other.speaker),
    begins: isFirst ? "segment" : own.begins === "paragraph" ? "paragraph" : "",
    mine: mine.places[word] ?? -1,
    theirs: theirs.places[word] ?? -1,
    theirSpeaker: isClash && other.speaker !== before.speaker ? other.speaker : undefined,
  };
}

function isSegment({ begins }: SideToken): boolean {
  return begins === "segment";
}

function merged<T>(before: T, mine: T, theirs: T): T {
  return mine === before ? theirs : mine;
}

/** Merges a word that one side has added, or that the other side has removed. */
function addedToken(
  sides: Sides,
  {
    region,
    side,
    at,
    anchors,
  }: {
    readonly region: Region;
    readonly side: "mine" | "theirs";
    readonly at: number;
    readonly anchors: Readonly<Record<"mine" | "theirs", Int32Array>>;
  },
): MergedToken {
  const token = sides[side].tokens[at];
  if (!token) throw new Error(`there is no token ${at}`);
  const other = side === "mine" ? sides.theirs : sides.mine;
  const isFirst = at === region[side].from && region.taking === side;
  const begins = isFirst ? firstBegins(sides.base, other, { token, region }) : token.begins;
  const anchor = anchors[side][at] ?? -1;
  const near = anchor >= 0 ? anchor : region.from < region.to ? region.from : -1;
  const [before, elsewhere] = [tokenOf(sides.base, near), tokenOf(other, near)];
  const pair = pairedToken(sides, { region, side, at });
  let { speaker } = token;
  if (before && elsewhere) {
    const [own, theirs] =
      side === "mine" ? [speaker, elsewhere.speaker] : [elsewhere.speaker, speaker];
    speaker = merged(before.speaker, own, theirs);
  }
  const mine = side === "mine" ? at : pair;
  return { text: token.text, speaker, begins, mine, theirs: side === "theirs" ? at : pair };
}

/** Returns the index of the token on the other side, if both sides have made the same change. */
function pairedToken(
  { mine, theirs }: Sides,
  {
    region,
    side,
    at,
  }: { readonly region: Region; readonly side: "mine" | "theirs"; readonly at: number },
): number {
  if (region.taking !== "both" || side !== "theirs") return -1;
  const index = region.mine.from + at - region.theirs.from;
  const isSame = mine.tokens[index]?.text.trim() === theirs.tokens[at]?.text.trim();
  return isSame && index < region.mine.to ? index : -1;
}

/**
 * Decides whether a segment begins with the first word of a change. It does not if the other side
 * has joined the segment that began with the word that was replaced.
 */
function firstBegins(
  base: Side,
  other: Side,
  { token, region }: { readonly token: SideToken; readonly region: Region },
): SideToken["begins"] {
  const [before, elsewhere] = [tokenOf(base, region.from), tokenOf(other, region.from)];
  if (!before || !elsewhere || (region.from === region.to && !isSegment(token))) {
    return token.begins;
  }
  if (region.from === region.to && !isSegment(before)) return token.begins;
  const isFirst = merged(isSegment(before), isSegment(token), isSegment(elsewhere));
  return isFirst ? "segment" : isSegment(token) ? "" : token.begins;
}

/**
 * Returns for each token a word of the base in the same segment that the side has kept: the nearest
 * one before it, or else the next; -1 if there is none. Yields often.
 */
function* anchorsOfSteps({ tokens }: Side): Generator<void, Int32Array, void> {
  const anchors = new Int32Array(tokens.length).fill(-1);
  let last = -1;
  for (const [at, { ref, begins }] of tokens.entries()) {
    if (at % (8 * stepWords) === 0) yield;
    if (begins === "segment") last = -1;
    if (ref >= 0) last = ref;
    anchors[at] = last;
  }
  let next = -1;
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    if (at % (8 * stepWords) === 0) yield;
    const anchor = anchors[at] ?? -1;
    if (anchor >= 0) next = anchor;
    else anchors[at] = next;
    if (tokens[at]?.begins === "segment") next = -1;
  }
  return anchors;
}
