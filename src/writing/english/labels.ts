import { readDigitRun } from "../digit-runs.ts";
import { readDigit, readNumber } from "../numbers.ts";
import { phraseRule, type Piece, type Rule } from "../rule.ts";
import { englishNumerals as numerals, englishSigns } from "./numerals.ts";

/** Words before a number that names a thing; small ones too are in digits: page 5. */
const labels = new Set(
  "page chapter room gate flight route exit channel section figure".split(" "),
);

/** Words before digits that are said one by one. */
const codeWords = new Set("dial code pin extension is number call room flight".split(" "));

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

/** Writes telephone numbers (555-1234, 212-555-1234) and codes that are said digit by digit. */
export const englishDigits: Rule = (words, at) => {
  const run = readDigitRun(words, at, numerals);
  if (!run || run.groups < 3) return undefined;
  const { digits, count } = run;
  if (!run.counts && run.groups === digits.length) {
    const area = digits.length === 10 ? `${digits.slice(0, 3)}-` : "";
    const local = digits.slice(area === "" ? 0 : 3);
    if (local.length === 7) {
      return [{ text: `${area}${local.slice(0, 3)}-${local.slice(3)}`, count }];
    }
  }
  const isCode = codeWords.has(words[at - 1] ?? "") && !run.counts;
  return isCode && run.groups === digits.length ? [{ text: digits, count }] : undefined;
};

export const englishAbbreviation: Rule = phraseRule(
  new Map([
    ["et cetera", "etc."],
    ["versus", "vs."],
  ]),
  2,
);

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
  return { text: number.isDecimal ? number.text : String(number.value), count: number.count };
}
