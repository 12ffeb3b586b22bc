import { atOnce } from "../../../../std/at-once.ts";
import { matchWordsSteps } from "../../../../std/word-matches/match-words.ts";
import { mappedSteps, numberedSteps, stepWords } from "./align-tokens.ts";
import type { EditedParagraph } from "./base.ts";
import { WordNumbers } from "./word-numbers.ts";

/**
 * Paragraphs that take the place of the paragraphs [start, end), of which there is at least one.
 */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly paragraphs: readonly EditedParagraph[];
}

/**
 * Returns what must be replaced to change one list of paragraphs to another, for one transaction of
 * the editor. Paragraphs with the same text are replaced one by one, if only their runs differ.
 */
export function replacementsBetween(
  before: readonly EditedParagraph[],
  after: readonly EditedParagraph[],
): Replacement[] {
  return atOnce(replacementsBetweenSteps(before, after));
}

/** Does the same as replacementsBetween(), and yields often. */
export function* replacementsBetweenSteps(
  before: readonly EditedParagraph[],
  after: readonly EditedParagraph[],
): Generator<void, Replacement[], void> {
  const numbers = new WordNumbers();
  const own = yield* numberedSteps(yield* mappedSteps(before, keyOf), numbers);
  const other = yield* numberedSteps(yield* mappedSteps(after, keyOf), numbers);
  const matches = yield* matchWordsSteps(own, other);
  yield;
  const replacements: Replacement[] = [];
  let [start, otherStart] = [0, 0];
  const closeAt = (end: number, otherEnd: number): void => {
    if (start < end || otherStart < otherEnd) {
      replacements.push({ start, end, paragraphs: after.slice(otherStart, otherEnd) });
    }
    [start, otherStart] = [end, otherEnd];
  };
  for (const [index, at] of matches.before.entries()) {
    if (index % stepWords === 0) yield;
    const otherAt = matches.after[index] ?? 0;
    const isOneSided = (start === at) !== (otherStart === otherAt);
    // A replacement needs paragraphs on both sides, so it includes the one that follows.
    if (isOneSided) {
      closeAt(at + 1, otherAt + 1);
      continue;
    }
    closeAt(at, otherAt);
    const [one, other] = [before[at], after[otherAt]];
    if (one?.from !== other?.from || one?.to !== other?.to) closeAt(at + 1, otherAt + 1);
    else [start, otherStart] = [at + 1, otherAt + 1];
  }
  const isOneSided = (start === before.length) !== (otherStart === after.length);
  if (isOneSided && start > 0 && otherStart > 0) {
    const last = replacements.at(-1);
    if (last?.end === start) {
      replacements.pop();
      [start, otherStart] = [last.start, otherStart - last.paragraphs.length];
    } else [start, otherStart] = [start - 1, otherStart - 1];
  }
  closeAt(before.length, after.length);
  return replacements;
}

function keyOf({ text, speaker, isSoft, pins }: EditedParagraph): string {
  const own = pins ? JSON.stringify(pins) : "";
  return `${isSoft ? 1 : 0} ${speaker}\n${own}\n${text}`;
}
