import { readBelowHundred, readCardinal } from "../cardinals.ts";
import type { Piece, Rule } from "../rule.ts";
import { englishNumerals as numerals, ordinalText, readEnglishOrdinal } from "./numerals.ts";
import { followsAmount } from "./units.ts";

export const englishMonths: ReadonlySet<string> = new Set(
  "january february march april may june july august september october november december".split(
    " ",
  ),
);

export const englishWeekdays: ReadonlySet<string> = new Set(
  "monday tuesday wednesday thursday friday saturday sunday".split(" "),
);

/** Words after which "may" and "march" are months: "in may". */
const beforeMonths = new Set(
  "in of since until by on from through during last next early late mid every".split(" "),
);

/** Words after which a number is a year. */
const yearWords = new Set("in since year until by from of during before after around".split(" "));

/** Words that can follow a year such as 1900; other words are counted by the number. */
const afterYears = new Set(
  "and when the he she it they we i there was to but a for with at on after before".split(" "),
);

/** Returns whether a word is a month: "may" and "march" only where other words show it. */
export function isEnglishMonth(words: readonly string[], at: number): boolean {
  const word = words[at] ?? "";
  if (!englishMonths.has(word)) return false;
  if (word !== "may" && word !== "march") return true;
  const previous = words[at - 1];
  if (previous !== undefined && beforeMonths.has(previous)) return true;
  if (previous === "to" && englishMonths.has(words[at - 2] ?? "")) return true;
  const isAlone = previous === undefined || englishWeekdays.has(previous);
  return isAlone && (readEnglishOrdinal(words, at + 1) ?? dayAt(words, at + 1)) !== undefined;
}

/** Writes the day after a month ("january twenty first" is January 21), with a comma and year. */
export const englishDay: Rule = (words, at) => {
  if (at === 0 || !isEnglishMonth(words, at - 1)) return undefined;
  const yearOnly = readYear(words, at, true);
  const ordinal = readEnglishOrdinal(words, at);
  const day = ordinal && ordinal.value <= 31 ? ordinal : dayAt(words, at);
  if (!day || (yearOnly && yearOnly.count > day.count)) return yearOnly && [yearOnly];
  const year = readYear(words, at + day.count, true);
  const text = String(day.value);
  return year ? [{ text: `${text},`, count: day.count }, year] : [{ text, count: day.count }];
};

function dayAt(
  words: readonly string[],
  at: number,
): { readonly value: number; readonly count: number } | undefined {
  const day = readBelowHundred(words, at, numerals);
  return day && day.value <= 31 && !followsAmount(words, at + day.count) ? day : undefined;
}

/** Writes ordinals from 10 on (21st), and those of days: "the first of may" has 1st. */
export const englishOrdinal: Rule = (words, at) => {
  const ordinal = readEnglishOrdinal(words, at);
  if (!ordinal) return undefined;
  const { value, count } = ordinal;
  const isDay = words[at + count] === "of" && englishMonths.has(words[at + count + 1] ?? "");
  if (isDay) return [{ text: ordinalText(value), count }];
  // "A twenty second delay" is a delay of 20 seconds, and "one tenth" a fraction.
  const previous = words[at - 1] ?? "";
  const isSeconds = words[at + count - 1] === "second" && previous === "a";
  if (value < 10 || isSeconds || numerals.units.has(previous)) return undefined;
  return [{ text: ordinalText(value), count }];
};

/** Writes years, without a sign between thousands. */
export const englishYear: Rule = (words, at) => {
  const decade = readDecade(words, at);
  if (decade) return [decade];
  const previous = words[at - 1] ?? "";
  const isExpected =
    yearWords.has(previous) ||
    followsYear(words, at) ||
    (previous === "between" && isSpan(words, at));
  const year = readYear(words, at, isExpected);
  return year && !followsAmount(words, at + year.count) ? [year] : undefined;
};

/** Words between two years: "from two thousand to two thousand ten". */
const yearLinks = new Set(["to", "and", "through", "until", "or"]);
/** The most words of a year. */
const yearWordsMax = 5;

/** Whether a year and a link precede: "from 1990 to". */
function followsYear(words: readonly string[], at: number): boolean {
  if (!yearLinks.has(words[at - 1] ?? "")) return false;
  for (let count = 1; count <= yearWordsMax; count += 1) {
    const start = at - 1 - count;
    const before = words[start - 1] ?? "";
    const isAfterWord = yearWords.has(before) || before === "between";
    if (isAfterWord && readYear(words, start, true)?.count === count) return true;
  }
  return false;
}

/** Whether two years and nothing that they count are at an index: "2000 and 2008". */
function isSpan(words: readonly string[], at: number): boolean {
  const first = readYear(words, at, true);
  if (!first || words[at + first.count] !== "and") return false;
  const second = readYear(words, at + first.count + 1, true);
  const next = second && words[at + first.count + 1 + second.count];
  return second !== undefined && (next === undefined || afterYears.has(next));
}

function readYear(words: readonly string[], at: number, isExpected: boolean): Piece | undefined {
  const pair = readPair(words, at, isExpected);
  if (pair || !isExpected) return pair;
  const cardinal = readCardinal(words, at, numerals);
  if (!cardinal || cardinal.implied) return undefined;
  const { value, count } = cardinal;
  if (value < 1000 || value > 2999) return undefined;
  const next = words[at + count];
  const isRound = value % 100 === 0 && words[at - 1] !== "year";
  if (isRound && next !== undefined && !afterYears.has(next)) return undefined;
  const isYear = value % 100 === 0 || value >= 2000;
  return isYear ? { text: String(value), count } : undefined;
}

/** Reads "nineteen ninety four", "twenty ten" or "nineteen oh five". */
function readPair(words: readonly string[], at: number, isExpected: boolean): Piece | undefined {
  const century = readBelowHundred(words, at, numerals);
  const lowest = isExpected ? 10 : 17;
  if (!century || century.value < lowest || century.value > 20) return undefined;
  const next = at + century.count;
  if (words[next] === "oh") {
    const digit = numerals.units.get(words[next + 1] ?? "");
    const text = `${century.value}0${digit}`;
    return digit === undefined ? undefined : { text, count: century.count + 2 };
  }
  const rest = readBelowHundred(words, next, numerals);
  if (!rest || rest.value < 10) return undefined;
  return { text: `${century.value}${rest.value}`, count: century.count + rest.count };
}

/** Words before "two thousands": "the early two thousands". */
const beforeDecades = new Set(["the", "early", "late", "mid"]);

/** Reads "nineteen nineties", "eighteen hundreds" and "two thousands". */
function readDecade(words: readonly string[], at: number): Piece | undefined {
  const century = numerals.teens.get(words[at] ?? "");
  const next = words[at + 1] ?? "";
  if (words[at] === "two" && next === "thousands" && beforeDecades.has(words[at - 1] ?? "")) {
    return { text: "2000s", count: 2 };
  }
  if (century === undefined) return undefined;
  if (next === "hundreds") return { text: `${century}00s`, count: 2 };
  const ten = next.endsWith("ies") ? numerals.tens.get(next.replace(/ies$/, "y")) : undefined;
  return ten === undefined ? undefined : { text: `${century}${ten}s`, count: 2 };
}
