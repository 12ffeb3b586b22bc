import { readDigitRun } from "../digit-runs.ts";
import { numberPieces, readNumber, wordsOf, type NumberReading } from "../numbers.ts";
import { phraseRule, type Piece, type Rule } from "../rule.ts";
import { icelandicNumerals as numerals, icelandicSigns } from "./numerals.ts";
import { followsAmount, isWordUnit, percentWords, readUnitSign } from "./units.ts";

/** Words that make "þúsund" after them an estimate, which stays in words. */
const vague = new Set(
  "nokkur nokkrum nokkurra mörg mörgum margra fáein hálft hálfu tug tugi tugir hundruð".split(" "),
);

/** Words before a number, and their abbreviations. */
const labels = new Map([
  ["númer", "nr."],
  ["blaðsíða", "bls."],
  ["blaðsíðu", "bls."],
]);

/**
 * Writes numbers: with a unit, percent or money always in digits (5 km), alone from 10 on. "Einn"
 * to "níu" stay words, as is usual in running text; so do "hundrað" and "þúsund" alone.
 */
export const icelandicAmount: Rule = (words, at) => {
  if (words[at] === "mínus") return withMinus(words, at);
  const number = readIcelandicNumber(words, at);
  return number && amountPieces(words, at, number);
};

/** Writes "númer fimm" as nr. 5. */
export const icelandicLabel: Rule = (words, at) => {
  const text = labels.get(words[at] ?? "");
  const number = text === undefined ? undefined : readIcelandicNumber(words, at + 1);
  if (text === undefined || !number || number.scaleWord !== undefined) return undefined;
  const digits = number.isDecimal ? number.text : String(number.value);
  return [
    { text, count: 1 },
    { text: digits, count: number.count },
  ];
};

/** Writes telephone numbers (555-1234), kennitölur (010190-2389) and 112. */
export const icelandicDigits: Rule = (words, at) => {
  const run = readDigitRun(words, at, numerals);
  if (!run || run.counts || run.groups < 3) return undefined;
  const { digits, count } = run;
  if (digits.length === 7) return [{ text: `${digits.slice(0, 3)}-${digits.slice(3)}`, count }];
  if (digits.length === 10) return [{ text: `${digits.slice(0, 6)}-${digits.slice(6)}`, count }];
  return digits === "112" ? [{ text: digits, count }] : undefined;
};

/** Writes the abbreviations that are usual in running text, without spaces (Ritreglur). */
export const icelandicAbbreviation: Rule = phraseRule(
  new Map([
    ["til dæmis", "t.d."],
    ["meðal annars", "m.a."],
    ["og svo framvegis", "o.s.frv."],
    ["og þess háttar", "o.þ.h."],
    ["og fleira", "o.fl."],
    ["það er að segja", "þ.e.a.s."],
    ["fyrir hönd", "f.h."],
    ["fyrir krist", "f.Kr."],
    ["eftir krist", "e.Kr."],
  ]),
  4,
);

function readIcelandicNumber(words: readonly string[], at: number): NumberReading | undefined {
  return readNumber(words, at, numerals, icelandicSigns);
}

function amountPieces(
  words: readonly string[],
  at: number,
  number: NumberReading,
): Piece[] | undefined {
  const end = at + wordsOf(number);
  const half = withHalf(words, end, number);
  if (half) return [half];
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
  return (
    other !== undefined && (isWritten(other) || followsAmount(words, end + 1 + wordsOf(other)))
  );
}

/** Whether a number without a unit is written in digits. */
function isWritten({ value, isDecimal, implied }: NumberReading): boolean {
  return isDecimal || (value >= 10 && !implied);
}

/** Writes "þrjú og hálft prósent" as 3,5%. */
function withHalf(
  words: readonly string[],
  end: number,
  { text, count, isDecimal, scaleWord, implied }: NumberReading,
): Piece | undefined {
  const isHalf = words[end] === "og" && (words[end + 1] ?? "").startsWith("hálf");
  const isWhole = !isDecimal && scaleWord === undefined && !implied;
  if (!isHalf || !isWhole || !percentWords.has(words[end + 2] ?? "")) return undefined;
  return { text: `${text},5%`, count: count + 3 };
}

/** Writes "mínus fimm gráður" as -5 gráður. */
function withMinus(words: readonly string[], at: number): Piece[] | undefined {
  const number = readIcelandicNumber(words, at + 1);
  if (!number || number.scaleWord !== undefined) return undefined;
  const [first, ...rest] = amountPieces(words, at + 1, number) ?? [];
  return first && [{ text: `-${first.text}`, count: first.count + 1 }, ...rest];
}
