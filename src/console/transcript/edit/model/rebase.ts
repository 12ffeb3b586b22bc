import { matchWords } from "../../../../std/word-matches/match-words.ts";
import { numbered } from "./align-tokens.ts";
import type { Base, EditedParagraph } from "./base.ts";
import { edgeMap, runEdges } from "./merge-paragraphs.ts";
import { editedSide, versionSide } from "./merge-sides.ts";
import { movedRetimings, noRetimings, type Retimings, type WordTimes } from "./retimings.ts";

/** An edited text on another version. */
export interface Rebased {
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings: Retimings;
  /** For each edge between words of the base, its number in the version. */
  readonly edges: Int32Array;
}

/**
 * Moves an edited text to the version that resulted when it was saved, perhaps a few edits ago. The
 * texts stay as they are, and their runs become runs of the saved version.
 */
export function rebased({
  base,
  paragraphs,
  retimings = noRetimings,
  saved,
  savedRetimings = noRetimings,
}: {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings?: Retimings;
  readonly saved: Base;
  /** The times that were set when the text was saved. */
  readonly savedRetimings?: Retimings;
}): Rebased {
  const mine = editedSide(base, paragraphs);
  const theirs = versionSide(base, saved, mine);
  const said = mine.tokens.map(({ text }) => text.trim());
  const numbers = new Map([["", -1]]);
  const { before, after } = matchWords(
    // The places of empty paragraphs match nothing.
    numbered(said, numbers).map((number, at) => (said[at] === "" ? -2 - at : number)),
    numbered(
      saved.words.map(({ word = "" }) => word.trim()),
      numbers,
    ),
  );
  const places = new Int32Array(said.length).fill(-1);
  for (const [index, at] of before.entries()) places[at] = after[index] ?? -1;
  const edges = runEdges(
    { mine, theirs },
    {
      tokens: Array.from(places, (place, at) => ({ mine: at, theirs: place })),
      begins: mine.tokens.map(({ begins }) => begins),
      count: saved.words.length,
    },
  );
  const froms = [...edges.values(), saved.words.length];
  return {
    paragraphs: paragraphs.map((paragraph, at) => ({
      ...paragraph,
      from: froms[at] ?? 0,
      to: froms[at + 1] ?? 0,
    })),
    edges: edgeMap(theirs, saved.words.length),
    retimings: movedRetimings(
      saved,
      new Map([...retimings].filter(([word, times]) => !areTimes(savedRetimings.get(word), times))),
      theirs.places,
    ),
  };
}

function areTimes(one: WordTimes | undefined, other: WordTimes): boolean {
  return one?.startTime === other.startTime && one.endTime === other.endTime;
}
