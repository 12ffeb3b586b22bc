import { readBelowHundred } from "../cardinals.ts";
import { readDigit, readNumber } from "../numbers.ts";
import { phraseRule, type Piece, type Rule } from "../rule.ts";
import { englishNumerals as numerals, englishSigns } from "./numerals.ts";

/** Words before a number that names a thing; small ones too are in digits: page 5. */
const labels = new Set(
  "page chapter room gate flight route exit channel section figure version".split(" "),
);

const titles = new Map([
  ["mister", "mr."],
  ["missus", "mrs."],
  ["mrs", "mrs."],
  ["doctor", "dr."],
]);

/** Words after a title word that show it is not one: "the doctor came". */
const notNames = new Set(
  "the a an came is was said who will has and or in of to for with on at that i he she".split(" "),
);

/** Writes the number after a label, as in "page five". */
export const englishLabel: Rule = (words, at) => {
  if (!labels.has(words[at] ?? "")) return undefined;
  const number = readDigits(words, at + 1) ?? readLabelNumber(words, at + 1);
  return number && [{ text: words[at] ?? "", count: 1 }, number];
};

export const englishAbbreviation: Rule = phraseRule(
  new Map([
    ["et cetera", "etc."],
    ["versus", "vs."],
  ]),
  2,
);

/** Words that are counted by "seven", so that it does not belong to "24/7". */
const counted = /^(?:second|minute|hour|day|week|month|year|percent|dollar|people)/;

/** Writes "twenty four seven" as 24/7, and the world wars with Roman digits (AP style). */
export const englishAlways: Rule = (words, at) => {
  if (words.slice(at, at + 3).join(" ") === "twenty four seven") {
    const next = words[at + 3] ?? "";
    const isAlone = !counted.test(next) && !readBelowHundred(words, at + 3, numerals);
    return isAlone ? [{ text: "24/7", count: 3 }] : undefined;
  }
  const isWar = words[at - 1] === "war" && words[at - 2] === "world";
  const number = isWar ? ["one", "two"].indexOf(words[at] ?? "") : -1;
  return number < 0 ? undefined : [{ text: "I".repeat(number + 1), count: 1 }];
};

/** Writes titles in front of names. */
export const englishTitle: Rule = (words, at) => {
  const text = titles.get(words[at] ?? "");
  const next = words[at + 1];
  if (text === undefined || next === undefined || notNames.has(next)) return undefined;
  const isAfterArticle = ["the", "a", "my", "your", "our"].includes(words[at - 1] ?? "");
  return isAfterArticle ? undefined : [{ text, count: 1 }];
};

/** Joins letters that are said one by one, as in "c e o"; "a" and "i" alone are words. */
export const englishLetters: Rule = (words, at) => {
  const first = words[at] ?? "";
  if (!/^[a-z]$/.test(first) || first === "a" || (first === "i" && at === 0)) return undefined;
  let end = at;
  while (end < at + 6 && /^[a-z]$/.test(words[end] ?? "")) end += 1;
  if (end - at < 2) return undefined;
  const letters = words.slice(at, end);
  return [{ text: letters.join("").toUpperCase(), count: end - at }];
};

function readDigits(words: readonly string[], at: number): Piece | undefined {
  let text = "";
  let end = at;
  for (; text.length < 12; end += 1) {
    const digit = readDigit(words[end], numerals);
    if (digit === undefined) break;
    text += digit;
  }
  return text.length < 2 ? undefined : { text, count: end - at };
}

function readLabelNumber(words: readonly string[], at: number): Piece | undefined {
  if (words[at] === "oh") return undefined;
  const number = readNumber(words, at, numerals, englishSigns);
  if (!number || number.implied || number.scaleWord !== undefined) return undefined;
  let text = number.isDecimal ? number.text : String(number.value);
  let { count } = number;
  // Versions have several points: 2.1.3.
  while (words[at - 1] === "version" && words[at + count] === "point") {
    const part = readBelowHundred(words, at + count + 1, numerals);
    if (!part) break;
    text += `.${part.value}`;
    count += 1 + part.count;
  }
  return { text, count };
}
