import { contractions, contractionEnds, fillers, titles } from "./english-words.ts";
import { americanSpelling } from "./american-spelling.ts";
import { englishNumbers } from "./english-numbers.ts";
import type { Token } from "./token.ts";

/**
 * Normalizes English words, which are in lower case already, by the kind of rules that OpenAI
 * published with Whisper (Robust Speech Recognition via Large-Scale Weak Supervision, 2022,
 * appendix C): contractions are written out, fillers dropped, numbers are digits, spelling is
 * American.
 */
export function normalizeEnglish(words: readonly string[]): Token[] {
  const tokens = words.flatMap((word, at) =>
    rewriteWord(word).map((text): Token => ({ text, from: at, to: at + 1 })),
  );
  return englishNumbers(tokens).map(({ text, ...range }) => ({
    text: americanSpelling(text),
    ...range,
  }));
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
