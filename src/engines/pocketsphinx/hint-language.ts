import type { Hint } from "../protocol/engine.ts";
import { foldedWords, hintWords } from "../protocol/hint-words.ts";

/** The words and probabilities of hints, for a decoder. */
export interface HintLanguage {
  /** Pronunciations to add to the dictionary: a word and its phones, separated by spaces. */
  readonly pronunciations: readonly (readonly [word: string, phones: string])[];
  /**
   * A language model of the phrases in the ARPA format; undefined if no phrase can be pronounced.
   */
  readonly arpa: string | undefined;
}

/** What is known of words before the hints. Words are in lower case. */
export interface KnownWords {
  readonly isInDictionary: (word: string) => boolean;
  readonly isInModel: (word: string) => boolean;
  /** Returns how a written word may be said; empty if it cannot be read. */
  readonly soundsOf: (word: string) => readonly string[];
}

/**
 * The logarithm of the probability of a word with a boost of 0, which is that of a rare word, and
 * how much each unit of boost adds. Measured: with more, words are replaced by hints that were not
 * said (bench/RESULTS.md).
 */
const rareLog10 = -6;
const boostLog10 = 0.2;
/** The logarithm of the probability of the next word within a phrase. */
const nextLog10 = -0.1;
/** The logarithm of the probability of a word that only occurs after others. */
const neverLog10 = -99;

/**
 * Returns the language of hints. The model of the hints is used in addition to the model of the
 * language: a word is as likely as the likelier of the two says. So hints never make other words
 * less likely.
 */
export function hintLanguage(hints: readonly Hint[], known: KnownWords): HintLanguage {
  const pronunciations = new Map<string, Set<string>>();
  const first = new Map<string, number>();
  const next = new Map<string, Set<string>>();
  for (const hint of hints) {
    const words = foldedWords(hint.phrase);
    const sounds = soundsOfHint(hint, known);
    if (!sounds) continue;
    for (const [at, word] of words.entries()) {
      const all = pronunciations.get(word) ?? new Set();
      for (const phones of sounds[at] ?? []) all.add(phones);
      pronunciations.set(word, all);
      const isAlone = words.length === 1;
      const boost = at > 0 ? 0 : isAlone || !known.isInModel(word) ? hint.boost : hint.boost / 2;
      const isNeeded = at === 0 || !known.isInModel(word);
      const log10 = isNeeded ? rareLog10 + boostLog10 * boost : neverLog10;
      first.set(word, Math.max(first.get(word) ?? neverLog10, log10));
      const before = words[at - 1];
      if (before !== undefined) next.set(before, (next.get(before) ?? new Set()).add(word));
    }
  }
  return {
    pronunciations: [...pronunciations].flatMap(([word, all]) =>
      [...all].map((phones) => [word, phones] as const),
    ),
    arpa: first.size > 0 ? arpaOf(first, next) : undefined,
  };
}

/**
 * Returns the pronunciations to add for each word of a hint; undefined if a word cannot be said.
 */
function soundsOfHint(
  { phrase, soundsLike = [] }: Hint,
  known: KnownWords,
): readonly (readonly string[])[] | undefined {
  const written = hintWords(phrase);
  const words = foldedWords(phrase);
  const likes = soundsLike.flatMap((text) => {
    const like = wordsFor(hintWords(text), words.length);
    return like ? [like] : [];
  });
  const sounds = words.map((word, at): readonly string[] => {
    const own = likes.map((like) => soundOfWords(like[at] ?? [], known));
    const said = own.filter((phones) => phones !== "");
    if (said.length > 0 || known.isInDictionary(word)) return said;
    return known.soundsOf(written[at] ?? word);
  });
  const isSaid = words.every((word, at) => sounds[at]?.length || known.isInDictionary(word));
  return isSaid ? sounds : undefined;
}

/**
 * Divides the words of a text that sounds like a phrase among the words of the phrase: its last
 * word gets the rest. Undefined if the text has fewer words than the phrase.
 */
function wordsFor(text: readonly string[], count: number): readonly string[][] | undefined {
  if (text.length < count) return undefined;
  return Array.from({ length: count }, (_, at) =>
    text.slice(at, at === count - 1 ? undefined : at + 1),
  );
}

/** Returns one pronunciation of words that are said without a pause, as one word. */
function soundOfWords(words: readonly string[], known: KnownWords): string {
  return words.flatMap((word) => known.soundsOf(word).at(0) ?? []).join(" ");
}

function arpaOf(
  first: ReadonlyMap<string, number>,
  next: ReadonlyMap<string, ReadonlySet<string>>,
): string {
  const unigrams = [...first].map(([word, log10]) => `${log10.toFixed(3)} ${word} 0`);
  const bigrams = [...next].flatMap(([before, words]) => {
    const share = nextLog10 - Math.log10(words.size);
    return [...words].map((word) => `${share.toFixed(3)} ${before} ${word}`);
  });
  const parts = [
    "\\data\\",
    `ngram 1=${unigrams.length + 2}`,
    `ngram 2=${bigrams.length}`,
    "",
    "\\1-grams:",
    `${neverLog10} <s> 0`,
    `${neverLog10} </s> 0`,
    ...unigrams,
    "",
    "\\2-grams:",
    ...bigrams,
    "",
    "\\end\\",
  ];
  return `${parts.join("\n")}\n`;
}
