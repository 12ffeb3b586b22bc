import { atOnce } from "../../../../std/at-once.ts";
import { matchWordsSteps } from "../../../../std/word-matches/match-words.ts";
import { mappedSteps, numberedSteps } from "./align-tokens.ts";
import type { Base, EditedParagraph } from "./base.ts";
import { edgeMap, runEdgesSteps } from "./merge-paragraphs.ts";
import { editedSideSteps, versionSideSteps } from "./merge-sides.ts";
import { movedRetimings, noRetimings, type Retimings, type WordTimes } from "./retimings.ts";
import { withoutOwnPinsSteps } from "./times.ts";
import { WordNumbers } from "./word-numbers.ts";

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
export function rebased(edited: Edited): Rebased {
  return atOnce(rebasedSteps(edited));
}

interface Edited {
  readonly base: Base;
  readonly paragraphs: readonly EditedParagraph[];
  readonly retimings?: Retimings;
  readonly saved: Base;
  /** The times that were set when the text was saved. */
  readonly savedRetimings?: Retimings;
}

/** Does the same as rebased(), and yields often. */
export function* rebasedSteps({
  base,
  paragraphs,
  retimings = noRetimings,
  saved,
  savedRetimings = noRetimings,
}: Edited): Generator<void, Rebased, void> {
  const mine = yield* editedSideSteps(base, paragraphs);
  const theirs = yield* versionSideSteps(base, saved, mine);
  const said = yield* mappedSteps(mine.tokens, ({ text }) => text.trim());
  const numbers = new WordNumbers();
  const own = yield* numberedSteps(said, numbers);
  // The places of empty paragraphs match nothing.
  for (let at = 0; at < own.length; at += 1) if (said[at] === "") own[at] = -2 - at;
  yield;
  const savedWords = yield* mappedSteps(saved.words, ({ word = "" }) => word.trim());
  const other = yield* numberedSteps(savedWords, numbers);
  const { before, after } = yield* matchWordsSteps(own, other);
  yield;
  const places = new Int32Array(said.length).fill(-1);
  for (let index = 0; index < before.length; index += 1) {
    places[before[index] ?? 0] = after[index] ?? -1;
  }
  yield;
  const edges = yield* runEdgesSteps(
    { mine, theirs },
    {
      tokens: yield* mappedSteps(mine.tokens, (_, at) => ({ mine: at, theirs: places[at] ?? -1 })),
      begins: yield* mappedSteps(mine.tokens, ({ begins }) => begins),
      count: saved.words.length,
    },
  );
  yield;
  const froms = [...edges.values(), saved.words.length];
  const moved = yield* mappedSteps(paragraphs, (paragraph, at) => ({
    ...paragraph,
    from: froms[at] ?? 0,
    to: froms[at + 1] ?? 0,
  }));
  return {
    paragraphs: yield* withoutOwnPinsSteps(saved, moved),
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
