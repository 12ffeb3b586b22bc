import { foldText } from "../std/fold-text.ts";
import { matchWords } from "../std/word-matches/match-words.ts";
import { Violations } from "../std/service-error.ts";
import { writeWords } from "../writing/write-words.ts";
import { checkPhrase, type CheckedPhrase } from "./check-phrase.ts";

/** The words of a part of a text before and after an edit. */
export interface EditedWords {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The indexes of words before the edit that recognition wrote in digits or signs. */
  readonly formatted?: ReadonlySet<number>;
}

/** The maximum number of words that replace others in a correction, and that are replaced. */
const wordsMax = 3;
/** The maximum number of corrections of a save: a new text is not a correction. */
export const correctionsMax = 20;
/** The cost limit of all comparisons of a save, in steps of matchWords(): about 50 ms. */
const stepsMax = 600_000;

/**
 * Finds the phrases that an editor wrote in place of one to three words each, except numbers, in
 * place of formatted words, and changes of letter case or punctuation only. Each phrase is returned
 * once.
 */
export function findCorrections(
  edits: readonly EditedWords[],
  languageCode: string,
): CheckedPhrase[] {
  const found = new Map<string, CheckedPhrase>();
  for (const edit of edits) {
    for (const { removed, added } of replacements(edit)) {
      const phrase = phraseOf(removed, added, languageCode);
      if (phrase && !found.has(phrase.folded)) found.set(phrase.folded, phrase);
      if (found.size === correctionsMax) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** Yields the words between those that are the same in both texts. */
function* replacements({ before, after, formatted }: EditedWords) {
  const numbers = new Map<string, number>();
  const numbersOf = (words: readonly Folded[]) =>
    Int32Array.from(words, ({ folded }) => {
      const number = numbers.get(folded) ?? numbers.size;
      numbers.set(folded, number);
      return number;
    });
  const [one, other] = [foldedWords(before, formatted), foldedWords(after)];
  const matches = matchWords(numbersOf(one), numbersOf(other), stepsMax);
  let [from, otherFrom] = [0, 0];
  for (let index = 0; index <= matches.before.length; index += 1) {
    const to = matches.before[index] ?? one.length;
    const otherTo = matches.after[index] ?? other.length;
    const [removed, added] = [one.slice(from, to), other.slice(otherFrom, otherTo)];
    const isRecognized = removed.length > 0 && !removed.some(({ isFormatted }) => isFormatted);
    if (isRecognized && added.length > 0) yield { removed, added };
    [from, otherFrom] = [to + 1, otherTo + 1];
  }
}

/** A word, and its letters and digits without case. */
interface Folded {
  readonly word: string;
  readonly folded: string;
  readonly isFormatted: boolean;
}

function foldedWords(words: readonly string[], formatted?: ReadonlySet<number>): Folded[] {
  return words
    .flatMap((word, index) => {
      const isFormatted = formatted?.has(index) ?? false;
      const parts = word.trim().split(/\s+/);
      return parts.map((part) => ({ word: part, folded: foldedLetters(part), isFormatted }));
    })
    .filter(({ folded }) => folded !== "");
}

function foldedLetters(word: string): string {
  return foldText(word.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, ""));
}

function phraseOf(
  removed: readonly Folded[],
  added: readonly Folded[],
  languageCode: string,
): CheckedPhrase | undefined {
  if (removed.length > wordsMax || added.length > wordsMax) return undefined;
  const words = added.map(({ word }) =>
    word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu, ""),
  );
  if (!words.some((word) => /\p{L}.*\p{L}.*\p{L}/u.test(word))) return undefined;
  if (isNumber(words, languageCode)) return undefined;
  const violations = new Violations();
  const fields = { phrase: words.join(" "), languageCode, weight: 0, soundsLike: [] };
  const phrase = checkPhrase(fields, "", violations);
  return violations.isEmpty ? phrase : undefined;
}

/** Whether words are or contain a number, an ordinal, a date or a time, in digits or in words. */
function isNumber(words: readonly string[], languageCode: string): boolean {
  const spoken = words.map((word) => ({ text: word.toLowerCase(), startMs: 0, endMs: 0 }));
  const options = { languageCode, formats: true, punctuation: false, masksProfanity: false };
  return writeWords(spoken, options).some(({ text }) => /\p{N}/u.test(text));
}
