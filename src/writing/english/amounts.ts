import { numberPieces, readDecimals, readNumber, wordsOf, type NumberReading } from "../numbers.ts";
import type { Piece, Rule } from "../rule.ts";
import { englishNumerals as numerals, englishSigns } from "./numerals.ts";
import { currencySigns, followsAmount, isWordUnit, percentWords, readUnitSign } from "./units.ts";

/**
 * Writes numbers: with a unit, percent or money always in digits (5 km), alone from 10 on. "One" to
 * "nine" stay words, and so do "a hundred" and "a thousand" alone (AP style).
 */
export const englishAmount: Rule = (words, at) => {
  if (words[at] === "minus") return withMinus(words, at);
  const number = readAmount(words, at);
  return number && !isOpenRange(words, at, number) ? amountPieces(words, at, number) : undefined;
};

/** Whether hundreds or thousands end a range that shares them: "two to three hundred". */
function isOpenRange(words: readonly string[], at: number, { value }: NumberReading): boolean {
  const isRound = value >= 100 && value % 100 === 0;
  return isRound && words[at - 1] === "to" && numerals.units.has(words[at - 2] ?? "");
}

/** Words after which "point" is a noun: "at this point five percent are left". */
const beforePoints = new Set("the a this that one each every some any what which no to".split(" "));

/** Reads a number, also "three and a half" and "point five" where an amount follows. */
function readAmount(words: readonly string[], at: number): NumberReading | undefined {
  if (words[at] === "point") return readPoint(words, at);
  const number = readWithArticle(words, at);
  if (!number || number.isDecimal || number.scaleWord !== undefined || number.implied) {
    return number;
  }
  const { value, text, count } = number;
  const end = at + count;
  if (words.slice(end, end + 3).join(" ") !== "and a half") return number;
  const next = words[end + 3] ?? "";
  const isScaled = (numerals.scales.get(next) ?? 0) >= 1_000_000;
  if (!isScaled && !followsAmount(words, end + 3)) return number;
  // Money has two decimals.
  const decimals = currencySigns.has(next) ? "50" : "5";
  const read = { value: value + 0.5, text: `${text}.${decimals}`, count: count + 3 };
  return { ...read, isDecimal: true, implied: false, ...(isScaled && { scaleWord: next }) };
}

function readPoint(words: readonly string[], at: number): NumberReading | undefined {
  const decimals = readDecimals(words, at, numerals);
  if (!decimals || beforePoints.has(words[at - 1] ?? "")) return undefined;
  if (!followsAmount(words, at + decimals.count)) return undefined;
  const text = `0.${decimals.text}`;
  const { count } = decimals;
  return { value: Number(text), text, count, isDecimal: true, implied: false };
}

/** A number, which "a" may stand in front of: "a hundred and twenty". */
function readWithArticle(words: readonly string[], at: number): NumberReading | undefined {
  const hasArticle = words[at] === "a";
  const number = readNumber(words, hasArticle ? at + 1 : at, numerals, englishSigns);
  if (words[at] === "oh") return undefined;
  // "Thousand" alone is not a number, and "half a million" is not a million.
  const startsImplied = numerals.impliesOne.has(words[hasArticle ? at + 1 : at] ?? "");
  if (!number || startsImplied !== hasArticle || words[at - 1] === "half") return undefined;
  return hasArticle ? { ...number, count: number.count + 1 } : number;
}

function amountPieces(
  words: readonly string[],
  at: number,
  number: NumberReading,
): Piece[] | undefined {
  const end = at + wordsOf(number);
  const percent = percentWords(words, end);
  if (percent > 0 && number.scaleWord === undefined) {
    return [{ text: `${number.text}%`, count: number.count + percent }];
  }
  const sign = currencySigns.get(words[end] ?? "");
  if (sign !== undefined) return money(words, end, number, sign);
  const unit = readUnitSign(words, end);
  if (unit) return [...numberPieces(number), unit];
  const isScaled = number.scaleWord !== undefined && !isImplied(words, at);
  // In "two thirty" the numbers are of one kind; what kind is unknown.
  const isPart = number.value < 100 && numerals.units.has(words[at - 1] ?? "");
  const isLarge = number.value >= 10 && !isPart && !isImplied(words, at);
  const isWritten = number.isDecimal || isScaled || isLarge || isWordUnit(words, end);
  return isWritten || startsRange(words, end) ? numberPieces(number) : undefined;
}

/** Whether a number ends where "to" and one in digits follow: "5 to 10 degrees". */
function startsRange(words: readonly string[], end: number): boolean {
  if (words[end] !== "to") return false;
  const other = readNumber(words, end + 1, numerals, englishSigns);
  if (!other || other.implied || isOpenRange(words, end + 1, other)) return false;
  return other.value >= 10 || other.isDecimal || followsAmount(words, end + 1 + wordsOf(other));
}

/** Whether the number is only "a hundred", "a thousand" or "a million". */
function isImplied(words: readonly string[], at: number): boolean {
  if (words[at] !== "a") return false;
  const rest = readNumber(words, at + 1, numerals, englishSigns);
  return rest?.implied === true || rest?.scaleWord !== undefined;
}

/** Writes $250, "$2 million" and $5.50; `end` is the index of the currency. */
function money(
  words: readonly string[],
  end: number,
  number: NumberReading,
  sign: string,
): Piece[] {
  const { text, count, scaleWord, isDecimal } = number;
  if (scaleWord !== undefined) {
    return [
      { text: sign + text, count },
      { text: scaleWord, count: 2 },
    ];
  }
  const cents = isDecimal ? undefined : readCents(words, end + 1);
  if (!cents) return [{ text: sign + text, count: count + 1 }];
  return [{ text: `${sign}${text}.${cents.text}`, count: count + 1 + cents.count }];
}

function readCents(words: readonly string[], at: number): Piece | undefined {
  const start = words[at] === "and" ? at + 1 : at;
  const number = readNumber(words, start, numerals, englishSigns);
  if (!number || number.isDecimal || number.value > 99) return undefined;
  const centsAt = start + number.count;
  if (words[centsAt] !== "cents" && words[centsAt] !== "cent") return undefined;
  return { text: String(number.value).padStart(2, "0"), count: centsAt + 1 - at };
}

/** Writes "minus five degrees" as -5 degrees. */
function withMinus(words: readonly string[], at: number): Piece[] | undefined {
  const number = readAmount(words, at + 1);
  const isPlain = number !== undefined && number.scaleWord === undefined;
  const [first, ...rest] = (isPlain && amountPieces(words, at + 1, number)) || [];
  return first && [{ text: `-${first.text}`, count: first.count + 1 }, ...rest];
}
