import { readBelowHundred, readCardinal } from "../cardinals.ts";
import { readDigitRun } from "../digit-runs.ts";
import type { Piece, Rule } from "../rule.ts";
import { englishNumerals as numerals, readEnglishOrdinal } from "./numerals.ts";

const streets = new Set("street avenue boulevard road drive".split(" "));
/** Words that describe a street rather than name it: "a four lane road". */
const notNames = new Set("way lane lanes track mile miles car story a an the of and or".split(" "));
/** The most words of the name of a street, without "street". */
const nameWordsMax = 2;
/** The most digits of a number of a house. */
const digitsMax = 5;

/** Writes the number of a house in front of a street: "one twenty three main street" has 123. */
export const englishHouse: Rule = (words, at) => {
  const house = readHouse(words, at);
  return house && readStreet(words, at + house.count) > 0 ? [house] : undefined;
};

/** Marks the street after the number of a house that begins at an index. */
export function markStreet(words: readonly string[], at: number, names: Uint8Array): void {
  const house = readHouse(words, at);
  if (!house) return;
  const start = at + house.count;
  names.fill(1, start, start + readStreet(words, start));
}

/** Returns the number of words of a street, with "street"; 0 if there is none. */
function readStreet(words: readonly string[], at: number): number {
  for (let count = 1; count <= nameWordsMax; count += 1) {
    const name = words[at + count - 1];
    if (name === undefined || notNames.has(name) || streets.has(name)) return 0;
    if (streets.has(words[at + count] ?? "")) return count + 1;
  }
  return 0;
}

/** Reads a number from 10 on, or several numbers one after another. */
function readHouse(words: readonly string[], at: number): Piece | undefined {
  // In "twenty first street" the number is the name.
  if (readEnglishOrdinal(words, at)) return undefined;
  const run = readDigitRun(words, at, numerals);
  if (run && run.digits.length <= digitsMax) return { text: run.digits, count: run.count };
  const isInNumber = readBelowHundred(words, at - 1, numerals) !== undefined;
  const number = isInNumber ? undefined : readCardinal(words, at, numerals);
  if (!number || number.implied || number.value < 10 || number.value > 99_999) return undefined;
  return { text: String(number.value), count: number.count };
}
