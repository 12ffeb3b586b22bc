import { writeWords } from "../../writing/write-words.ts";
import type { Token } from "./token.ts";

/**
 * Returns words with their numbers, dates, times and amounts in digits, as src/writing writes them,
 * so that a text in words and one in digits are compared alike. Words without digits stay as they
 * are.
 */
export function writtenNumbers(words: readonly string[], languageCode: string): Token[] {
  const spoken = words.map((text) => ({ text, startMs: 0, endMs: 0 }));
  const options = { languageCode, formats: true, punctuation: false, masksProfanity: false };
  let to = 0;
  let isAfterNumber = false;
  return writeWords(spoken, options).flatMap(({ text, spoken: parts, spokenForm }): Token[] => {
    const from = to;
    to += parts.length;
    // The sign of a unit belongs to its number.
    const isUnit = isAfterNumber && spokenForm !== undefined;
    isAfterNumber = /\p{N}/u.test(text);
    if (isAfterNumber || isUnit) {
      return [{ text: text.normalize("NFKC").toLowerCase(), from, to }];
    }
    return parts.map((word, at) => ({ text: word.text, from: from + at, to: from + at + 1 }));
  });
}

/** What is written in place of `count` words. */
interface Replacement {
  readonly texts: readonly string[];
  readonly count: number;
}

/** Replaces what `read` finds after each number in digits, such as a unit by its sign. */
export function replacedAfterNumbers(
  tokens: readonly Token[],
  read: (words: readonly string[], at: number) => Replacement | undefined,
): Token[] {
  const words = tokens.map(({ text }) => text);
  const replaced: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (!token) break;
    replaced.push(token);
    const found = /^\d[\d.,]*$/u.test(token.text) ? read(words, at + 1) : undefined;
    const [first, last] = [tokens[at + 1], tokens[at + (found?.count ?? 0)]];
    if (!found || !first || !last) continue;
    const range = { from: first.from, to: last.to };
    replaced.push(...found.texts.map((text) => ({ text, ...range })));
    at += found.count;
  }
  return replaced;
}
