import { readBelowHundred } from "../cardinals.ts";
import type { Piece, Rule } from "../rule.ts";
import { englishNumerals as numerals } from "./numerals.ts";

/** Words after which two numbers are a time, as in "at three thirty". */
const timeWords = new Set("at by until till before after around from".split(" "));
const minuteWords = new Set(["minutes", "minute"]);
const quarterLinks = new Map([
  ["past", 15],
  ["after", 15],
  ["to", 45],
  ["of", 45],
]);

const noonSides = new Map([
  ["am", "a.m."],
  ["a.m.", "a.m."],
  ["a.m", "a.m."],
  ["pm", "p.m."],
  ["p.m.", "p.m."],
  ["p.m", "p.m."],
]);

/** Writes times of day: "half past three" is 3:30, "three thirty p m" is 3:30 p.m. */
export const englishClock: Rule = (words, at) => {
  const spoken = readPast(words, at) ?? readQuarter(words, at) ?? readMinutes(words, at);
  if (spoken) return [spoken, ...readSide(words, at + spoken.count)];
  const hour = hourAt(words, at);
  if (!hour) return undefined;
  if (words[at + 1] === "o'clock") return [{ text: hour.text, count: 1 }];
  const full = readHourAndMinute(words, at);
  const side = readSide(words, at + (full ?? hour).count);
  if (side.length > 0) return [full ?? hour, ...side];
  return full && timeWords.has(words[at - 1] ?? "") ? [full] : undefined;
};

function readPast(words: readonly string[], at: number): Piece | undefined {
  if (words[at] !== "half" || words[at + 1] !== "past") return undefined;
  const hour = hourAt(words, at + 2);
  return hour && { text: `${hour.text}:30`, count: 3 };
}

/** Reads "quarter past three", with "a" in front of it. */
function readQuarter(words: readonly string[], at: number): Piece | undefined {
  const start = words[at] === "a" ? at + 1 : at;
  if (words[start] !== "quarter") return undefined;
  const minutes = quarterLinks.get(words[start + 1] ?? "");
  const hour = hourAt(words, start + 2);
  if (minutes === undefined || !hour) return undefined;
  const shown = minutes === 45 ? hourBefore(hour.text) : hour.text;
  return { text: `${shown}:${minutes}`, count: start + 3 - at };
}

/** Reads "ten past eight", "ten minutes to six" and, after "at", "ten to six". */
function readMinutes(words: readonly string[], at: number): Piece | undefined {
  const minutes = readBelowHundred(words, at, numerals);
  if (!minutes || minutes.value > 29) return undefined;
  const afterMinutes = at + minutes.count;
  const isNamed = minuteWords.has(words[afterMinutes] ?? "");
  const linkAt = isNamed ? afterMinutes + 1 : afterMinutes;
  const hour = hourAt(words, linkAt + 1);
  if (!hour || !(isNamed || minutes.value % 5 === 0)) return undefined;
  const count = linkAt + 2 - at;
  if (words[linkAt] === "past") {
    return { text: `${hour.text}:${padded(minutes.value)}`, count };
  }
  const isTime = isNamed || words[at - 1] === "at" || isAfterIt(words, at);
  if (words[linkAt] !== "to" || !isTime) return undefined;
  return { text: `${hourBefore(hour.text)}:${60 - minutes.value}`, count };
}

/** Whether "it's" or "it is" precedes. */
function isAfterIt(words: readonly string[], at: number): boolean {
  const previous = words[at - 1] ?? "";
  return previous === "it's" || (words[at - 2] === "it" && ["is", "was"].includes(previous));
}

function readHourAndMinute(words: readonly string[], at: number): Piece | undefined {
  const hour = hourAt(words, at);
  if (!hour) return undefined;
  if (words[at + 1] === "oh") {
    const digit = numerals.units.get(words[at + 2] ?? "");
    return digit === undefined ? undefined : { text: `${hour.text}:0${digit}`, count: 3 };
  }
  const minute = readBelowHundred(words, at + 1, numerals);
  if (!minute || minute.value < 10 || minute.value > 59) return undefined;
  return { text: `${hour.text}:${minute.value}`, count: 1 + minute.count };
}

/** Reads "p m" and its other forms. */
function readSide(words: readonly string[], at: number): Piece[] {
  const word = words[at] ?? "";
  const joined = noonSides.get(word);
  if (joined !== undefined) return [{ text: joined, count: 1 }];
  const isSplit = (word === "a" || word === "p") && words[at + 1] === "m";
  return isSplit ? [{ text: `${word}.m.`, count: 2 }] : [];
}

/** Reads an hour from 1 to 12, which is one word. */
function hourAt(words: readonly string[], at: number): Piece | undefined {
  const word = words[at] ?? "";
  const value = numerals.units.get(word) ?? numerals.teens.get(word);
  return value === undefined || value > 12 ? undefined : { text: String(value), count: 1 };
}

function hourBefore(hour: string): string {
  return hour === "1" ? "12" : String(Number(hour) - 1);
}

function padded(minutes: number): string {
  return String(minutes).padStart(2, "0");
}
