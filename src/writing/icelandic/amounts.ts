import { numberPieces, wordsOf, type NumberReading } from "../numbers.ts";
import type { Piece, Rule } from "../rule.ts";
import { icelandicNumerals as numerals, readIcelandicNumber } from "./numerals.ts";
import { followsAmount, isWordUnit, percentWords, readUnitSign } from "./units.ts";

/**
 * Writes numbers: with a unit, percent or money always in digits (5 km), alone from 10 on. "Einn"
 * to "níu" stay words, as is usual in running text; so do "hundrað" and "þúsund" alone.
 */
export const icelandicAmount: Rule = (words, at) => {
  if (words[at] === "mínus") return withMinus(words, at);
  const number = readAmount(words, at);
  return number && !isOpenRange(words, at, number) ? amountPieces(words, at, number) : undefined;
};

/** Whether hundreds or thousands end a range that shares them: "tvö til þrjú hundruð". */
function isOpenRange(words: readonly string[], at: number, { value }: NumberReading): boolean {
  const isRound = value >= 100 && value % 100 === 0;
  return isRound && words[at - 1] === "til" && numerals.units.has(words[at - 2] ?? "");
}

/** Words that make "þúsund" after them an estimate, which stays in words. */
const vague = new Set(
  "nokkur nokkrum nokkurra mörg mörgum margra fáein hálft hálfu tug tugi tugir hundruð".split(" "),
);

function amountPieces(
  words: readonly string[],
  at: number,
  number: NumberReading,
): Piece[] | undefined {
  const end = at + wordsOf(number);
  const previous = words[at - 1] ?? "";
  const isEstimate =
    previous === "hálf" ||
    (number.implied && (vague.has(previous) || numerals.units.has(previous)));
  if (percentWords.has(words[end] ?? "") && number.scaleWord === undefined) {
    return isEstimate ? undefined : [{ text: `${number.text}%`, count: number.count + 1 }];
  }
  const sign = readUnitSign(words, end);
  const isFigure = isWritten(number) || isWordUnit(words, end) || startsRange(words, end);
  if (isEstimate || !(sign !== undefined || isFigure)) return undefined;
  return sign ? [...numberPieces(number), sign] : numberPieces(number);
}

/** Whether a number ends where "til" and one in digits follow: "5 til 10 stig". */
function startsRange(words: readonly string[], end: number): boolean {
  if (words[end] !== "til") return false;
  const other = readIcelandicNumber(words, end + 1);
  if (other && isOpenRange(words, end + 1, other)) return false;
  return (
    other !== undefined && (isWritten(other) || followsAmount(words, end + 1 + wordsOf(other)))
  );
}

/** Whether a number without a unit is written in digits. */
function isWritten({ value, isDecimal, implied }: NumberReading): boolean {
  return isDecimal || (value >= 10 && !implied);
}

/** The forms of "hálfur", and what "hálf milljón" is after digits: 1,5 milljónir. */
const halves = new Set(
  "hálfur hálfan hálfum hálfs hálf hálfa hálfri hálfrar hálft hálfu".split(" "),
);
const halfScales = new Map([
  ["hálf milljón", "milljónir"],
  ["hálfa milljón", "milljónir"],
  ["hálfri milljón", "milljónum"],
  ["hálfrar milljónar", "milljóna"],
  ["hálfur milljarður", "milljarðar"],
  ["hálfan milljarð", "milljarða"],
  ["hálfum milljarði", "milljörðum"],
  ["hálfs milljarðs", "milljarða"],
]);

/** Reads a number, also "þrjú og hálft" where a unit, percent or a large number follows. */
function readAmount(words: readonly string[], at: number): NumberReading | undefined {
  const number = readIcelandicNumber(words, at);
  if (!number || number.isDecimal || number.scaleWord !== undefined || number.implied) {
    return number;
  }
  const { value, text, count } = number;
  const halfAt = at + count + 1;
  const half = words[halfAt] ?? "";
  if (words[halfAt - 1] !== "og" || !halves.has(half)) return number;
  const scaleWord = halfScales.get(`${half} ${words[halfAt + 1] ?? ""}`);
  if (scaleWord === undefined && !followsAmount(words, halfAt + 1)) return number;
  const read = { value: value + 0.5, text: `${text},5`, count: count + 2, isDecimal: true };
  return { ...read, implied: false, ...(scaleWord !== undefined && { scaleWord }) };
}

/** Writes "mínus fimm gráður" as -5 gráður. */
function withMinus(words: readonly string[], at: number): Piece[] | undefined {
  const number = readAmount(words, at + 1);
  if (!number || number.scaleWord !== undefined) return undefined;
  const [first, ...rest] = amountPieces(words, at + 1, number) ?? [];
  return first && [{ text: `-${first.text}`, count: first.count + 1 }, ...rest];
}
