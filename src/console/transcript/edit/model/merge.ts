import { atOnce } from "../../../../std/at-once.ts";
import { stepWords } from "./align-tokens.ts";
import type { Base, EditedParagraph } from "./base.ts";
import { edgeMap, mergedParagraphsSteps, type PlacedToken } from "./merge-paragraphs.ts";
import { regionsOfSteps, type Region, type TokenRange } from "./merge-regions.ts";
import { editedSideSteps, versionSideSteps, type Side } from "./merge-sides.ts";
import { mergedTokensSteps, type Merged } from "./merge-tokens.ts";
import { movedRetimings, noRetimings, type Retimings } from "./retimings.ts";
import { withoutOwnPinsSteps } from "./times.ts";

/** A place in a list of paragraphs. */
export interface Place {
  readonly paragraph: number;
  /** In UTF-16 code units. */
  readonly offset: number;
}

/** Changes of both sides that contradict each other. The merged text has mine. */
export type Clash =
  | {
      readonly kind: "words";
      /** Where mine is in the merged text. */
      readonly from: Place;
      readonly to: Place;
      /** The texts of both sides. Each item after the first begins a new segment. */
      readonly mine: readonly string[];
      readonly theirs: readonly string[];
      /** The words of the new base that theirs are, and the time at which they are said. */
      readonly run: TokenRange;
    }
  | {
      readonly kind: "speaker";
      readonly paragraph: number;
      readonly mine: string;
      readonly theirs: string;
    };

/** A text that has the changes of both sides. Its runs are those of the new base. */
export interface Merge {
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings: Retimings;
  readonly clashes: readonly Clash[];
  /** For each edge between words of the base, its number in the new base. */
  readonly edges: Int32Array;
}

/** What is merged: an edited text, and a newer version of the same base. */
interface Merging {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings?: Retimings;
  readonly theirs: Base;
}

/**
 * Merges the changes of two sides: an edited text, and a newer version of the same base. Words, the
 * places where segments begin, and speakers are merged separately.
 */
export function merge(merging: Merging): Merge {
  return atOnce(mergeSteps(merging));
}

/** Does the same as merge(), and yields often. */
export function* mergeSteps({
  base,
  paragraphs,
  retimings = noRetimings,
  theirs,
}: Merging): Generator<void, Merge, void> {
  const mine = yield* editedSideSteps(base, paragraphs);
  const sides = {
    base: yield* versionSideSteps(base, base),
    mine,
    theirs: yield* versionSideSteps(base, theirs, mine),
  };
  const regions = yield* regionsOfSteps(sides.mine, sides.theirs);
  const merged = yield* mergedTokensSteps(sides, regions);
  const result = yield* mergedParagraphsSteps(sides, merged.tokens, theirs);
  yield;
  const edges = edgeMap(sides.theirs, theirs.words.length);
  yield;
  return {
    paragraphs: yield* withoutOwnPinsSteps(theirs, result.paragraphs),
    edges,
    retimings: movedRetimings(theirs, retimings, sides.theirs.places),
    clashes: [
      ...wordClashes(sides, { regions, merged, places: result.places }),
      ...(yield* speakerClashesSteps(merged, result.places)),
    ],
  };
}

function wordClashes(
  { mine, theirs }: { readonly mine: Side; readonly theirs: Side },
  {
    regions,
    merged: { ranges },
    places,
  }: {
    readonly regions: readonly Region[];
    readonly merged: Merged;
    readonly places: readonly PlacedToken[];
  },
): Clash[] {
  return regions.flatMap((region, index) => {
    const range = ranges[index];
    if (region.taking !== "clash" || !range) return [];
    return [
      {
        kind: "words",
        ...spanOf(places, range),
        mine: textsOf(mine, region.mine),
        theirs: textsOf(theirs, region.theirs),
        run: region.theirs,
      },
    ];
  });
}

/** Returns the places of tokens [from, to). */
function spanOf(
  places: readonly PlacedToken[],
  { from, to }: TokenRange,
): { from: Place; to: Place } {
  const [first, last] = [places[from], places[to - 1]];
  if (from < to && first && last) {
    return {
      from: { paragraph: first.paragraph, offset: first.from },
      to: { paragraph: last.paragraph, offset: last.to },
    };
  }
  const before = places[from - 1];
  const place = before
    ? { paragraph: before.paragraph, offset: before.to }
    : { paragraph: 0, offset: 0 };
  return { from: place, to: place };
}

function textsOf({ tokens }: Side, { from, to }: TokenRange): string[] {
  const texts: string[] = [];
  for (const { text, begins } of tokens.slice(from, to)) {
    const last = texts.length - 1;
    if (last < 0 || begins === "segment") texts.push(text);
    else texts[last] += text;
  }
  return texts;
}

function* speakerClashesSteps(
  { tokens }: Merged,
  places: readonly PlacedToken[],
): Generator<void, Clash[], void> {
  const clashes: Clash[] = [];
  let latest = -1;
  for (const [at, { speaker, theirSpeaker }] of tokens.entries()) {
    if (at % (8 * stepWords) === 0) yield;
    const paragraph = places[at]?.paragraph ?? 0;
    if (theirSpeaker === undefined || paragraph === latest) continue;
    clashes.push({ kind: "speaker", paragraph, mine: speaker, theirs: theirSpeaker });
    latest = paragraph;
  }
  return clashes;
}
