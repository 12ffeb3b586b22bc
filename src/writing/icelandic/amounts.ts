import { readCardinal } from "../cardinals.ts";
import { readDigitRun, readDigitsAfter } from "../digit-runs.ts";
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
  const number = readAmount(words, at);
  return number && amountPieces(words, at, number);
};

/** Writes "númer fimm" as nr. 5. */
export const icelandicLabel: Rule = (words, at) => {
  const text = labels.get(words[at] ?? "");
  const run = text === undefined ? undefined : readDigitsAfter(words, at + 1, numerals);
  if (text !== undefined && run && run.groups > 2 && run.groups === run.digits.length) {
    return [
      { text, count: 1 },
      { text: run.digits, count: run.count },
    ];
  }
  const number = text === undefined ? undefined : readIcelandicNumber(words, at + 1);
  if (text === undefined || !number || number.scaleWord !== undefined) return undefined;
  const digits = number.isDecimal ? number.text : String(number.value);
  return [
    { text, count: 1 },
    { text: digits, count: number.count },
  ];
};

/** Writes telephone numbers (555-1234, +354 555-1234), kennitölur (010190-2389) and 112. */
export const icelandicDigits: Rule = (words, at) => {
  if (words[at] === "plús") return withCountryCode(words, at);
  const split = readSplitTelephone(words, at);
  if (split) return [split];
  const run = readDigitRun(words, at, numerals);
  if (!run || run.counts || run.groups < 3) return undefined;
  const { digits, count } = run;
  if (digits.length === 7) return [{ text: `${digits.slice(0, 3)}-${digits.slice(3)}`, count }];
  if (digits.length === 10) return [{ text: `${digits.slice(0, 6)}-${digits.slice(6)}`, count }];
  return digits === "112" ? [{ text: digits, count }] : undefined;
};

/** Writes "plús þrír fimm fjórir" and seven digits. */
function withCountryCode(words: readonly string[], at: number): Piece[] | undefined {
  const run = readDigitsAfter(words, at + 1, numerals);
  const [, code = "", first = "", rest = ""] =
    /^(354)(\d{3})(\d{4})$/.exec(run?.digits ?? "") ?? [];
  if (!run || code === "") return undefined;
  // The code is three words when each of its digits is.
  const isSpelled = readDigitsAfter(words.slice(at + 1, at + 4), 0, numerals)?.digits === code;
  if (!isSpelled) return undefined;
  return [
    { text: `+${code}`, count: 4 },
    { text: `${first}-${rest}`, count: run.count - 3 },
  ];
}

/** Reads a telephone number that begins with hundreds: "fimm hundruð tuttugu og fimm ...". */
function readSplitTelephone(words: readonly string[], at: number): Piece | undefined {
  const first = readCardinal(words, at, numerals);
  if (!first || first.count === 1 || first.value < 100 || first.value > 999) return undefined;
  const run = readDigitsAfter(words, at + first.count, numerals);
  if (!run || run.digits.length !== 4 || readCardinal(words, at - 1, numerals)) return undefined;
  return { text: `${first.value}-${run.digits}`, count: first.count + run.count };
}

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
