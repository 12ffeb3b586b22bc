import type { WordJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { atOnce } from "../../../../std/at-once.ts";
import type { Base, EditedParagraph } from "./base.ts";
import type { SegmentsChange } from "./changes.ts";
import { groupsOf, wordsOfSegment } from "./edited-segments.ts";
import { noRetimings, type Retimings } from "./retimings.ts";
import { timesOf } from "./times.ts";
import { tokensOf } from "./tokens.ts";

/** The limits of a transcript (docs/api.md, Transcripts: Create). */
export const savedLimits = { segments: 20_000, words: 200_000, wordChars: 1_000 } as const;

/** A reason why the service would refuse an edited text, and the place in the text. */
export type SaveProblem = Place &
  (
    | {
        readonly kind: "segments" | "words" | "wordChars";
        readonly count: number;
        readonly limit: number;
      }
    | { readonly kind: "invalidCharacter" }
  );

interface Place {
  readonly paragraph: number;
  /** In UTF-16 code units. */
  readonly offset: number;
}

/** The maximum number of problems that are reported. */
const problemsMax = 10;

/** Finds the reasons why the service would refuse changes. */
export function findProblems(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  changes: readonly SegmentsChange[],
  retimings: Retimings = noRetimings,
): SaveProblem[] {
  return atOnce(problemSteps(base, paragraphs, changes, retimings));
}

/** Does the same as findProblems(), and yields after each paragraph. */
export function* problemSteps(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  changes: readonly SegmentsChange[],
  retimings: Retimings,
): Generator<void, SaveProblem[], void> {
  if (changes.length === 0) return [];
  const problems: SaveProblem[] = [...countProblems(base, paragraphs, changes)];
  const hasLongWord = changes.some(({ segments }) =>
    segments.some(({ words }) => words?.some(isLong)),
  );
  let first = 0;
  for (const group of groupsOf(paragraphs)) {
    const long = hasLongWord ? [...longWords(base, group, retimings)] : [];
    for (const [at, { text }] of group.entries()) {
      if (problems.length >= problemsMax) return problems;
      const own = long.filter(({ paragraph }) => paragraph === at);
      const free = problemsMax - problems.length;
      const found = [...invalidCharacters(text).take(free), ...own].slice(0, free);
      for (const problem of found) problems.push({ ...problem, paragraph: first + at });
      yield;
    }
    first += group.length;
  }
  return problems;
}

function* countProblems(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  changes: readonly SegmentsChange[],
): Generator<SaveProblem> {
  let [segments, words] = [base.segments.length, base.words.length];
  for (const { startIndex, endIndex, segments: added } of changes) {
    segments += added.length - (endIndex - startIndex);
    words -= (base.firsts[endIndex] ?? 0) - (base.firsts[startIndex] ?? 0);
    for (const segment of added) words += segment.words?.length ?? 0;
  }
  const { segments: segmentsMax, words: wordsMax } = savedLimits;
  if (segments > segmentsMax) {
    const place = segmentPlace(paragraphs, segmentsMax);
    yield { kind: "segments", count: segments, limit: segmentsMax, ...place };
  }
  if (words > wordsMax) {
    const place = wordPlace(paragraphs, wordsMax);
    yield { kind: "words", count: words, limit: wordsMax, ...place };
  }
}

/** Returns where the segment after `count` others begins. */
function segmentPlace(paragraphs: readonly EditedParagraph[], count: number): Place {
  let left = count;
  const paragraph = paragraphs.findIndex(({ isSoft }) => !isSoft && left-- === 0);
  return { paragraph: paragraph < 0 ? paragraphs.length - 1 : paragraph, offset: 0 };
}

/** Returns where the word after `count` others begins. */
function wordPlace(paragraphs: readonly EditedParagraph[], count: number): Place {
  let left = count;
  for (const [paragraph, { text }] of paragraphs.entries()) {
    const tokens = tokensOf(text);
    const token = tokens[left];
    if (token) return { paragraph, offset: token.begin };
    left -= tokens.length;
  }
  return { paragraph: paragraphs.length - 1, offset: 0 };
}

const invalidCharacter = /[^\P{Cc}\t\n]|\p{Cs}/gu;

function* invalidCharacters(text: string): Generator<SaveProblem> {
  for (const { index: offset } of text.matchAll(invalidCharacter)) {
    yield { kind: "invalidCharacter", paragraph: 0, offset };
  }
}

function isLong({ word = "" }: WordJson): boolean {
  return word.length > savedLimits.wordChars && Array.from(word).length > savedLimits.wordChars;
}

/**
 * Yields the words of a segment that are too long as they are saved, which may be with a space that
 * no paragraph has. Their paragraphs are counted from the first one of the segment.
 */
function* longWords(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): Generator<SaveProblem> {
  const words = wordsOfSegment(base, group, retimings);
  if (!words.some(isLong)) return;
  let at = 0;
  for (const [index, paragraph] of group.entries()) {
    for (const { offset } of timesOf(base, paragraph, retimings)) {
      const word = words[at++];
      if (!word || !isLong(word)) continue;
      const count = Array.from(word.word ?? "").length;
      yield { kind: "wordChars", paragraph: index, offset, count, limit: savedLimits.wordChars };
    }
  }
}
