import { englishMonths } from "../../writing/english/calendar.ts";
import { readUnitSign } from "../../writing/english/units.ts";
import { contractions, contractionEnds, fillers, titles } from "./english-words.ts";
import { americanSpelling } from "./american-spelling.ts";
import { englishNumbers } from "./english-numbers.ts";
import type { Token } from "./token.ts";
import { replacedAfterNumbers, writtenNumbers } from "./written-numbers.ts";

/**
 * Normalizes English words, which are in lower case already, by the kind of rules that OpenAI
 * published with Whisper (Robust Speech Recognition via Large-Scale Weak Supervision, 2022,
 * appendix C): contractions are written out, fillers dropped, numbers are digits, spelling is
 * American.
 */
export function normalizeEnglish(words: readonly string[]): Token[] {
  const tokens = writtenNumbers(words, "en").flatMap(({ text, ...range }) =>
    rewriteWord(text).map((part): Token => ({ text: part, ...range })),
  );
  const numbers = englishNumbers(withScalesFirst(tokens));
  return replacedAfterNumbers(withDays(numbers), afterNumber).map(({ text, ...range }) => ({
    text: americanSpelling(text),
    ...range,
  }));
}

const scales = new Set(["million", "billion", "trillion"]);
const currencies = new Set(["dollar", "dollars", "euro", "euros", "pound", "pounds"]);

/** Puts the scale of "$2 million" in front of its currency. */
function withScalesFirst(tokens: readonly Token[]): Token[] {
  return tokens.map((token, at) => {
    const [before, next] = [tokens[at - 1], tokens[at + 1]];
    const isNumber = /^\d[\d.]*$/u.test(before?.text ?? "");
    const isBeforeNumber = /^\d[\d.]*$/u.test(tokens[at - 2]?.text ?? "");
    if (isNumber && currencies.has(token.text) && next && scales.has(next.text)) return next;
    return isBeforeNumber && scales.has(token.text) && before && currencies.has(before.text)
      ? { ...token, text: before.text }
      : token;
  });
}

/** Writes the days after the name of a month without an ending: january 21. */
function withDays(tokens: readonly Token[]): Token[] {
  return tokens.map((token, at) =>
    englishMonths.has(tokens[at - 1]?.text ?? "")
      ? { ...token, text: token.text.replace(/^(\d{1,2})(?:st|nd|rd|th)$/u, "$1") }
      : token,
  );
}

/** Reads a unit, or the letters of "p m". */
function afterNumber(words: readonly string[], at: number) {
  const word = words[at] ?? "";
  if ((word === "a" || word === "p") && words[at + 1] === "m") {
    return { texts: [`${word}m`], count: 2 };
  }
  const unit = readUnitSign(words, at);
  return (
    unit && { texts: rewriteWord(unit.text.normalize("NFKC").toLowerCase()), count: unit.count }
  );
}

function rewriteWord(word: string): string[] {
  const plain = withoutMarks(word).replaceAll(/[‘’ʼ`´]/gu, "'");
  const bare = trimmed(plain);
  if (fillers.has(bare)) return [];
  const known = contractions.get(bare) ?? titles.get(bare.replace(/\.$/, ""));
  if (known !== undefined) return [...known];
  const money = /^([$£€])(\d[\d.,]*)(.*)$/u.exec(bare);
  if (money) {
    const [, sign = "", amount = "", rest = ""] = money;
    const number = plainNumber(amount.replace(/[.,]+$/, ""));
    return [number, currencyOf(sign, number === "1"), ...rewriteWord(rest)];
  }
  return bare
    .split(/(?<=\d)[:](?=\d)/u)
    .join("")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/gu, "")
    .replaceAll("%", " percent ")
    .replaceAll("&", " and ")
    .split(/[^\p{L}\p{N}'.]+/u)
    .flatMap(writtenOut)
    .map((part) => part.replaceAll("'", ""))
    .flatMap((part) => part.split(/(?<!\d)\.|\.(?!\d)/u))
    .filter((part) => part !== "");
}

/** Returns the words of a word with an apostrophe: they'll is they will. */
function writtenOut(part: string): string[] {
  const whole = contractions.get(part);
  if (whole !== undefined) return [...whole];
  for (const [end, words] of contractionEnds) {
    if (part.endsWith(end) && part.length > end.length) {
      return [part.slice(0, -end.length), ...words];
    }
  }
  return [part];
}

function plainNumber(amount: string): string {
  return amount.replaceAll(",", "");
}

function currencyOf(sign: string, isOne: boolean): string {
  const [one, more] = { $: ["dollar", "dollars"], "£": ["pound", "pounds"] }[sign] ?? [
    "euro",
    "euros",
  ];
  return (isOne ? one : more) ?? "";
}

/** Removes accents: café is cafe. */
function withoutMarks(word: string): string {
  return word.normalize("NFD").replaceAll(/\p{M}/gu, "").normalize("NFC");
}

/** Removes the punctuation around a word, except for signs that are read aloud. */
function trimmed(word: string): string {
  return word.replaceAll(/^[^\p{L}\p{N}$£€%&']+|[^\p{L}\p{N}%&'.]+$/gu, "").replace(/\.+$/, "");
}
