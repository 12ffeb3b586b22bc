import { readBelowHundred, readCardinal, type NumeralWords } from "./cardinals.ts";
import type { Piece } from "./rule.ts";

/** The signs of a language in numbers. */
export interface NumberSigns {
  readonly thousands: string;
  readonly decimal: string;
}

export interface NumberReading {
  readonly value: number;
  /** The number in digits, or its part before "million" and larger words. */
  readonly text: string;
  /** The number of words of `text`. */
  readonly count: number;
  readonly isDecimal: boolean;
  readonly implied: boolean;
  /** The word such as "million" that follows the digits; the number has it as its last word. */
  readonly scaleWord?: string;
}

/** The most decimals that are read. */
const decimalsMax = 12;

/** Returns the number, whole or with decimals, that begins at an index. */
export function readNumber(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
  signs: NumberSigns,
): NumberReading | undefined {
  const cardinal = numerals.zero.has(words[at] ?? "")
    ? { value: 0, count: 1, implied: false }
    : readCardinal(words, at, numerals);
  if (!cardinal) return undefined;
  const { value, count, implied, scale } = cardinal;
  const whole = { value, count, implied, isDecimal: false };
  if (scale !== undefined) {
    const scaleWord = words[at + count - 1] ?? "";
    const text = grouped(value / scale, signs.thousands);
    return { ...whole, text, count: count - 1, scaleWord };
  }
  const integer = grouped(value, signs.thousands);
  const decimals = readDecimals(words, at + count, numerals);
  if (!decimals) return { ...whole, text: integer };
  const text = `${integer}${signs.decimal}${decimals.text}`;
  const end = count + decimals.count;
  const next = words[at + end] ?? "";
  const isScaled = (numerals.scales.get(next) ?? 0) >= 1_000_000;
  return {
    value: Number(`${value}.${decimals.text}`),
    text,
    count: end,
    isDecimal: true,
    implied: false,
    ...(isScaled && { scaleWord: next }),
  };
}

/** Returns the number of words of a number, with the word such as "million". */
export function wordsOf({ count, scaleWord }: NumberReading): number {
  return scaleWord === undefined ? count : count + 1;
}

/** Returns a number as pieces: its digits, and the word such as "million". */
export function numberPieces({ text, count, scaleWord }: NumberReading): Piece[] {
  const digits = { text, count };
  return scaleWord === undefined ? [digits] : [digits, { text: scaleWord, count: 1 }];
}

/** Returns a whole number with a sign between thousands. */
function grouped(value: number, thousands: string): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, thousands);
}

/** Reads "komma fimm", "point one four" or "komma sjötíu og fimm", with the first word. */
export function readDecimals(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
): Piece | undefined {
  if (words[at] !== numerals.decimal) return undefined;
  let digits = "";
  let end = at + 1;
  for (; digits.length < decimalsMax; end += 1) {
    const digit = readDigit(words[end], numerals);
    if (digit === undefined) break;
    digits += digit;
  }
  if (digits !== "") return { text: digits, count: end - at };
  const pair = readBelowHundred(words, at + 1, numerals);
  return pair && { text: String(pair.value), count: pair.count + 1 };
}

/** Returns the digit of a word for 0 to 9. */
export function readDigit(
  word: string | undefined,
  { zero, units }: NumeralWords,
): number | undefined {
  if (word === undefined) return undefined;
  return zero.has(word) ? 0 : units.get(word);
}
