import { readBelowHundred } from "../cardinals.ts";
import { readDigit } from "../numbers.ts";
import type { Piece, Rule } from "../rule.ts";
import { icelandicNumerals as numerals } from "./numerals.ts";

/** Words after which "hálf þrjú" is a time. */
const timeWords = new Set("klukkan um fyrir til frá eftir kringum rúmlega tæplega".split(" "));
const quarters = new Set(["korter", "kortér"]);
const minuteWords = new Set(["mínútur", "mínúta", "mínútu", "mínútum"]);
const links = new Set(["er", "var", "verður"]);

/**
 * Writes times of day: "klukkan fjórtán þrjátíu" is kl. 14.30, "hálf þrjú" is 2.30 where the
 * words before it make it a time.
 */
export const icelandicClock: Rule = (words, at) => {
  if (words[at] === "klukkan") {
    const time = readTime(words, at + 1, true) ?? readHour(words, at + 1);
    return time && [{ text: "kl.", count: 1 }, time];
  }
  const time = readTime(words, at, isAfterClock(words, at));
  return time && [time];
};

/** Whether "klukkan", or "klukkan er", precedes. */
function isAfterClock(words: readonly string[], at: number): boolean {
  const previous = words[at - 1] ?? "";
  return previous === "klukkan" || (links.has(previous) && words[at - 2] === "klukkan");
}

function readTime(words: readonly string[], at: number, isClock: boolean): Piece | undefined {
  const word = words[at] ?? "";
  if (word === "hálf") {
    return isClock || timeWords.has(words[at - 1] ?? "") ? readHalf(words, at) : undefined;
  }
  if (quarters.has(word)) return readOffset(words, at + 1, 15, 1);
  if (isClock && numerals.zero.has(word)) return readEarly(words, at);
  const number = readBelowHundred(words, at, numerals);
  if (!number || number.value > 29) return undefined;
  const { value, count } = number;
  if (minuteWords.has(words[at + count] ?? "")) {
    // In "klukkan vantar tíu mínútur í átta" the minutes are what is missing.
    if (words[at - 1] === "vantar") return undefined;
    return readOffset(words, at + count + 1, value, count + 1);
  }
  if (!isClock) return undefined;
  const isRound = value % 5 === 0 && words[at + count] === "yfir";
  return (
    (isRound ? readOffset(words, at + count, value, count) : undefined) ??
    readHourAndMinute(words, at)
  );
}

function readHalf(words: readonly string[], at: number): Piece | undefined {
  const hour = hourAt(words, at + 1);
  if (!hour || hour.value > 12) return undefined;
  return { text: clock(hour.value - 1, 30), count: hour.count + 1 };
}

/** Reads "í þrjú" or "yfir þrjú" after `count` words for minutes. */
function readOffset(
  words: readonly string[],
  at: number,
  minutes: number,
  count: number,
): Piece | undefined {
  const side = words[at];
  if (side !== "í" && side !== "yfir") return undefined;
  const isHalf = words[at + 1] === "hálf";
  const hour = hourAt(words, isHalf ? at + 2 : at + 1);
  if (!hour || hour.value > 12) return undefined;
  const from = 60 * hour.value - (isHalf ? 30 : 0);
  const time = side === "í" ? from - minutes : from + minutes;
  const text = clock(Math.floor(time / 60), time % 60);
  return { text, count: count + (isHalf ? 2 : 1) + hour.count };
}

function readHourAndMinute(words: readonly string[], at: number): Piece | undefined {
  const hour = readBelowHundred(words, at, numerals);
  if (!hour || hour.value > 24) return undefined;
  const next = at + hour.count;
  if (numerals.zero.has(words[next] ?? "")) {
    const isZero = numerals.zero.has(words[next + 1] ?? "");
    const digit = isZero ? 0 : numerals.units.get(words[next + 1] ?? "");
    if (digit === undefined) return undefined;
    return { text: `${hour.value}.0${digit}`, count: hour.count + 2 };
  }
  const minute = readBelowHundred(words, next, numerals);
  if (!minute || minute.value < 10 || minute.value > 59) return undefined;
  return { text: clock(hour.value, minute.value), count: hour.count + minute.count };
}

/** Reads "núll núll þrjátíu" and "núll fimm fimmtán": 00.30 and 05.15. */
function readEarly(words: readonly string[], at: number): Piece | undefined {
  const hour = readDigit(words[at + 1], numerals);
  const minute = readBelowHundred(words, at + 2, numerals);
  if (hour === undefined || !minute || minute.value < 10 || minute.value > 59) return undefined;
  return { text: `0${hour}.${minute.value}`, count: 2 + minute.count };
}

function readHour(words: readonly string[], at: number): Piece | undefined {
  const hour = hourAt(words, at);
  return hour && { text: String(hour.value), count: hour.count };
}

/** Reads an hour that no larger number contains: not the "þrjú" of "þrjú hundruð". */
function hourAt(
  words: readonly string[],
  at: number,
): { readonly value: number; readonly count: number } | undefined {
  const hour = readBelowHundred(words, at, numerals);
  if (!hour || hour.value > 24) return undefined;
  const next = words[at + hour.count] ?? "";
  if (numerals.hundreds.has(next) || numerals.scales.has(next)) return undefined;
  return hour;
}

/** Returns a time; the hour before one is twelve. */
function clock(hour: number, minute: number): string {
  return `${hour === 0 ? 12 : hour}.${String(minute).padStart(2, "0")}`;
}
