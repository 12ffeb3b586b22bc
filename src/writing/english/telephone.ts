import { readDigitRun, readDigitsAfter } from "../digit-runs.ts";
import type { Piece, Rule } from "../rule.ts";
import { englishNumerals as numerals } from "./numerals.ts";

/** Words before digits that are said one by one. */
const codeWords = new Set("dial code pin extension is number call room flight".split(" "));
/** Words before digits that are a code even if they count up: "pin one two three four". */
const secretWords = new Set(["code", "pin", "extension", "dial", "password"]);

/**
 * Writes telephone numbers (555-1234, 212-555-1234, 1-800-555-1234), 911, and codes that are said
 * digit by digit.
 */
export const englishDigits: Rule = (words, at) => {
  if (words[at] === "plus") return withCountryCode(words, at);
  const free = readTollFree(words, at);
  if (free) return [free];
  const run = readDigitRun(words, at, numerals);
  if (!run || run.groups < 3) return undefined;
  const { digits, count } = run;
  const isSpelled = run.groups === digits.length;
  if (isSpelled && digits === "911") return [{ text: digits, count }];
  const number = run.counts || !isSpelledAt(words, at) ? undefined : telephone(digits);
  if (number !== undefined) return [{ text: number, count }];
  const isCode = run.counts ? isAfterSecret(words, at) : codeWords.has(words[at - 1] ?? "");
  return isCode && isSpelled ? [{ text: digits, count }] : undefined;
};

/** Returns 555-1234 for seven digits and 212-555-1234 for ten. */
function telephone(digits: string): string | undefined {
  const [, area = "", first = "", rest = ""] = /^(\d{3})?(\d{3})(\d{4})$/.exec(digits) ?? [];
  if (first === "") return undefined;
  return area === "" ? `${first}-${rest}` : `${area}-${first}-${rest}`;
}

/** Whether the first three words at an index are a digit each. */
function isSpelledAt(words: readonly string[], at: number): boolean {
  return readDigitsAfter(words.slice(at, at + 3), 0, numerals)?.digits.length === 3;
}

function isAfterSecret(words: readonly string[], at: number): boolean {
  const isLinked = words[at - 1] === "is";
  const previous = words[isLinked ? at - 2 : at - 1] ?? "";
  // The letters of "p i n" are still apart.
  const letters = words
    .slice(0, isLinked ? at - 1 : at)
    .slice(-3)
    .join("");
  return secretWords.has(previous) || letters === "pin";
}

/** Writes "plus one" and ten digits: +1 212-555-1234. */
function withCountryCode(words: readonly string[], at: number): Piece[] | undefined {
  const run = words[at + 1] === "one" ? readDigitsAfter(words, at + 2, numerals) : undefined;
  const number = run?.digits.length === 10 ? telephone(run.digits) : undefined;
  if (!run || number === undefined) return undefined;
  return [
    { text: "+1", count: 2 },
    { text: number, count: run.count },
  ];
}

/** Reads "eight hundred" and seven digits, with "one" in front of it. */
function readTollFree(words: readonly string[], at: number): Piece | undefined {
  const skip = words[at] === "one" && words[at + 2] === "hundred" ? 1 : 0;
  const digit = numerals.units.get(words[at + skip] ?? "");
  if (digit === undefined || words[at + skip + 1] !== "hundred") return undefined;
  const run = readDigitsAfter(words, at + skip + 2, numerals);
  if (!run || run.digits.length !== 7 || run.groups !== 7) return undefined;
  const text = `${skip === 1 ? "1-" : ""}${digit}00-${telephone(run.digits)}`;
  return { text, count: skip + 2 + run.count };
}
