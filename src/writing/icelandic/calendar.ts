import { readBelowHundred, readCardinal } from "../cardinals.ts";
import type { Piece, Rule } from "../rule.ts";
import { followsAmount } from "./units.ts";
import { icelandicNumerals as numerals, readIcelandicOrdinal } from "./numerals.ts";

/** Months are in small letters, and do not change in speech but for their genitives. */
export const icelandicMonths: ReadonlySet<string> = new Set(
  (
    "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember " +
    "janúars febrúars aprílmánaðar septembers októbers nóvembers desembers"
  ).split(" "),
);

/** Words after which a number is a year. */
const yearWords = new Set("árið árinu ársins haustið vorið sumarið veturinn".split(" "));

/** Words between two days of one month: "frá fyrsta til tíunda júní". */
const dayLinks = new Set(["til", "og", "eða"]);

/**
 * Writes ordinals: the day of a month always (21. janúar), others from 10 on (25. sæti); smaller
 * ones stay words, as small cardinals do. An ordinal in digits has a full stop (Ritreglur).
 */
export const icelandicOrdinal: Rule = (words, at) => {
  const ordinal = readIcelandicOrdinal(words, at);
  if (!ordinal) return undefined;
  const { value, count } = ordinal;
  if (value < 10 && !(value <= 31 && isDay(words, at + count))) return undefined;
  return [{ text: `${value}.`, count }];
};

function isDay(words: readonly string[], after: number): boolean {
  const next = words[after] ?? "";
  if (icelandicMonths.has(next)) return true;
  if (!dayLinks.has(next)) return false;
  const other = readIcelandicOrdinal(words, after + 1);
  return other !== undefined && icelandicMonths.has(words[after + 1 + other.count] ?? "");
}

/**
 * Writes years, without a sign between thousands: "nítján hundruð níutíu og fjögur" unless
 * something is counted by it, and any year after a word such as "árið" or a month.
 */
export const icelandicYear: Rule = (words, at) => {
  const isExpected = at > 0 && isYearWord(words[at - 1] ?? "");
  const year = (isExpected ? readPair(words, at) : undefined) ?? readWhole(words, at, isExpected);
  if (!year || followsAmount(words, at + year.count)) return undefined;
  return [year];
};

function isYearWord(word: string): boolean {
  return yearWords.has(word) || icelandicMonths.has(word);
}

function readWhole(words: readonly string[], at: number, isExpected: boolean): Piece | undefined {
  const cardinal = readCardinal(words, at, numerals);
  if (!cardinal || cardinal.scale !== undefined) return undefined;
  const { value, count } = cardinal;
  const isInCentury =
    value >= 1500 && value < 2000 && value % 100 > 0 && numerals.teens.has(words[at] ?? "");
  const isYear = isExpected ? value >= 100 && value < 3000 : isInCentury;
  return isYear ? { text: String(value), count } : undefined;
}

/** Reads "tuttugu tuttugu og fjögur". */
function readPair(words: readonly string[], at: number): Piece | undefined {
  const century = readBelowHundred(words, at, numerals);
  if (!century || century.value < 10 || century.value > 20) return undefined;
  const rest = readBelowHundred(words, at + century.count, numerals);
  if (!rest || rest.value < 10) return undefined;
  return { text: `${century.value}${rest.value}`, count: century.count + rest.count };
}
