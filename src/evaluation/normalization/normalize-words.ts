import { normalizeEnglish } from "./english.ts";
import { normalizeIcelandic } from "./icelandic.ts";
import { withoutBrackets } from "./source-words.ts";
import type { Token } from "./token.ts";

/**
 * standard: the rules of the language (docs/evaluation.md, Normalization). plain: lower case
 * without punctuation. none: the words as they are.
 */
export const normalizations = ["standard", "plain", "none"] as const;
export type Normalization = (typeof normalizations)[number];

/** Splits a text at white space. */
export function sourceWords(text: string): string[] {
  return text.split(/\s+/u).filter((word) => word !== "");
}

/**
 * Normalizes the words of a text for comparison. A word may become none, one or several tokens, and
 * a number of several words becomes one token.
 */
export function normalizeWords(
  words: readonly string[],
  how: { readonly normalization: Normalization; readonly languageCode: string },
): Token[] {
  const { normalization, languageCode } = how;
  if (normalization === "none") return words.map((text, at) => ({ text, from: at, to: at + 1 }));
  if (normalization === "standard") return normalizeByLanguage(words, languageCode);
  return eachWord(words, (word) => [word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")]);
}

function normalizeByLanguage(words: readonly string[], languageCode: string): Token[] {
  const [language = ""] = languageCode.toLowerCase().split("-", 1);
  const plain = withoutBrackets(words.map((word) => word.normalize("NFKC").toLowerCase()));
  if (language === "en") return normalizeEnglish(plain);
  if (language === "is") return normalizeIcelandic(plain);
  const isUnspaced = unspacedLanguages.has(language);
  return eachWord(plain, (word) => {
    const parts = word.split(/[^\p{L}\p{M}\p{N}]+/u);
    return isUnspaced ? parts.flatMap(graphemesOf) : parts;
  });
}

/** Languages that are written without spaces: each character counts as a word. */
const unspacedLanguages = new Set(["zh", "yue", "ja", "th", "lo", "my", "km"]);

const segmenter = new Intl.Segmenter("und", { granularity: "grapheme" });

function graphemesOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function eachWord(words: readonly string[], rewrite: (word: string) => string[]): Token[] {
  return words.flatMap((word, at) =>
    rewrite(word)
      .filter((text) => text !== "")
      .map((text) => ({ text, from: at, to: at + 1 })),
  );
}
