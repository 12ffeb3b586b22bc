import type { Base, EditedParagraph } from "./base.ts";
import type { SegmentsChange } from "./changes.ts";
import { noRetimings, type Retimings } from "./retimings.ts";
import { timesOf } from "./times.ts";

/** The limits of a transcript (docs/api.md, Transcripts: Create). */
export const savedLimits = { segments: 20_000, words: 200_000, wordChars: 1_000 } as const;

/** A reason why the service would refuse an edited text. */
export type SaveProblem =
  | { readonly kind: "segments" | "words"; readonly count: number; readonly limit: number }
  | {
      readonly kind: "wordChars";
      readonly paragraph: number;
      readonly offset: number;
      readonly count: number;
      readonly limit: number;
    }
  | {
      readonly kind: "invalidCharacter";
      readonly paragraph: number;
      readonly offset: number;
    };

/** The maximum number of problems that are reported. */
const problemsMax = 100;

/** Finds the reasons why the service would refuse changes. */
export function findProblems(
  base: Base,
  paragraphs: readonly EditedParagraph[],
  changes: readonly SegmentsChange[],
  retimings: Retimings = noRetimings,
): SaveProblem[] {
  const problems: SaveProblem[] = [...countProblems(base, changes)];
  if (changes.length === 0) return problems;
  for (const [index, paragraph] of paragraphs.entries()) {
    if (problems.length >= problemsMax) break;
    const found = problemsIn(base, { index, paragraph, retimings });
    problems.push(...found.take(problemsMax - problems.length));
  }
  return problems;
}

function* countProblems(base: Base, changes: readonly SegmentsChange[]): Generator<SaveProblem> {
  let [segments, words] = [base.segments.length, base.words.length];
  for (const { startIndex, endIndex, segments: added } of changes) {
    segments += added.length - (endIndex - startIndex);
    words -= (base.firsts[endIndex] ?? 0) - (base.firsts[startIndex] ?? 0);
    for (const segment of added) words += segment.words?.length ?? 0;
  }
  const { segments: segmentsMax, words: wordsMax } = savedLimits;
  if (segments > segmentsMax) yield { kind: "segments", count: segments, limit: segmentsMax };
  if (words > wordsMax) yield { kind: "words", count: words, limit: wordsMax };
}

const invalidCharacter = /[^\P{Cc}\t\n]|\p{Cs}/gu;

function* problemsIn(
  base: Base,
  {
    index,
    paragraph,
    retimings,
  }: {
    readonly index: number;
    readonly paragraph: EditedParagraph;
    readonly retimings: Retimings;
  },
): Generator<SaveProblem> {
  for (const { index: offset } of paragraph.text.matchAll(invalidCharacter)) {
    yield { kind: "invalidCharacter", paragraph: index, offset };
  }
  const limit = savedLimits.wordChars;
  if (paragraph.text.length <= limit || !/\S{501}/.test(paragraph.text)) return;
  for (const { text, offset } of timesOf(base, paragraph, retimings)) {
    if (text.length <= limit) continue;
    const count = Array.from(text).length;
    if (count > limit) yield { kind: "wordChars", paragraph: index, offset, count, limit };
  }
}

/**
 * Removes the characters that a word may not have from a text that is typed or pasted. Line ends
 * become newlines.
 */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?|\u2028|\u2029|\u0085/g, "\n").replaceAll(invalidCharacter, "");
}
