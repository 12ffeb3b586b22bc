import { readBelowHundred, readCardinal, type Cardinal } from "../cardinals.ts";
import type { Piece, Rule } from "../rule.ts";
import { followsAmount } from "./units.ts";
import { icelandicNumerals as numerals, readIcelandicOrdinal } from "./numerals.ts";

/** Months are in small letters, and do not change in speech but for their genitives. */
const icelandicMonths: ReadonlySet<string> = new Set(
  (
    "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember " +
    "janúars febrúars aprílmánaðar septembers októbers nóvembers desembers"
  ).split(" "),
);

/** Words after which a number is a year. */
const yearWords = new Set("árið árinu ársins haustið vorið sumarið veturinn".split(" "));

/** Words before a number that counts: "þeir voru tvö þúsund og fimm". */
const countingWords = new Set(
  (
    "eru voru er var verða urðu um rúmlega tæplega yfir undir alls samtals næstum nær nærri á fyrir " +
    "kostar kostaði kosta kostuðu hinir hin hinar þessir þessi þau þeir þær og eða en"
  ).split(" "),
);

/** Words that can follow a year; others are counted by the number. */
const afterYears = new Set(
  "og en eða þegar sem í á til frá með við hún hann það þau þeir þær ég við þar þá var er".split(
    " ",
  ),
);

/** Words between two days of one month: "frá fyrsta til tíunda júní". */
const dayLinks = new Set(["til", "og", "eða"]);
/** The most days that are listed in front of their month. */
const daysMax = 4;

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
  if (icelandicMonths.has(words[after] ?? "")) return true;
  for (let count = 0, at = after; count < daysMax; count += 1) {
    const start = dayLinks.has(words[at] ?? "") ? at + 1 : at;
    const other = readIcelandicOrdinal(words, start);
    if (!other || other.value > 31) return false;
    at = start + other.count;
    if (icelandicMonths.has(words[at] ?? "")) return true;
  }
  return false;
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
  const isYear = isExpected
    ? value >= 100 && value < 3000
    : isInCentury || isBareYear(words, at, cardinal);
  return isYear ? { text: String(value), count } : undefined;
}

/**
 * Whether "tvö þúsund og fimmtán" is a year without a word that shows it: it ends in the neuter,
 * nothing counts with it, and nothing is counted by it.
 */
function isBareYear(words: readonly string[], at: number, { value, count }: Cardinal): boolean {
  if (value <= 2000 || value >= 2050 || count < 3) return false;
  const previous = words[at - 1];
  if (previous === undefined || countingWords.has(previous)) return false;
  const unit = numerals.units.get(words[at + count - 1] ?? "") ?? 5;
  if (unit < 5 && !neuters.has(words[at + count - 1] ?? "")) return false;
  const next = words[at + count];
  if (next === undefined) return true;
  const other = readCardinal(words, at + count + 1, numerals);
  const isAmount = other !== undefined && followsAmount(words, at + count + 1 + other.count);
  return afterYears.has(next) && !isAmount;
}

const neuters = new Set(["eitt", "tvö", "þrjú", "fjögur"]);

/** Reads "tuttugu tuttugu og fjögur". */
function readPair(words: readonly string[], at: number): Piece | undefined {
  const century = readBelowHundred(words, at, numerals);
  if (!century || century.value < 10 || century.value > 20) return undefined;
  const rest = readBelowHundred(words, at + century.count, numerals);
  if (!rest || rest.value < 10) return undefined;
  return { text: `${century.value}${rest.value}`, count: century.count + rest.count };
}
