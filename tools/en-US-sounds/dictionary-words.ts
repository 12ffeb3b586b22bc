import { readFileSync } from "node:fs";
import { englishModel } from "../../src/engines/pocketsphinx/sphinx-library.ts";

/** One in this many words is held out of the training, to measure the result. */
const heldOutShare = 20;

/** A word of the letters a to z, and the phones of its pronunciations. */
export type DictionaryWord = readonly [
  word: string,
  pronunciations: readonly (readonly string[])[],
];

/** Reads the words of Debian's dictionary: those to learn from, and those held out. */
export function dictionaryWords(): {
  readonly learned: readonly DictionaryWord[];
  readonly heldOut: readonly DictionaryWord[];
} {
  const words = new Map<string, string[][]>();
  for (const line of readFileSync(englishModel.dictionary, "utf8").split("\n")) {
    const [entry = "", ...phones] = line.trim().split(" ");
    const word = entry.replace(/\(\d+\)$/, "");
    if (!/^[a-z]+$/.test(word)) continue;
    words.set(word, [...(words.get(word) ?? []), phones]);
  }
  const all = [...words];
  return {
    learned: all.filter(([word]) => hashOf(word) % heldOutShare !== 0),
    heldOut: all.filter(([word]) => hashOf(word) % heldOutShare === 0),
  };
}

/** The FNV-1a hash of a word, which does not depend on the other words of the dictionary. */
function hashOf(word: string): number {
  let hash = 2_166_136_261;
  for (const letter of word) {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  }
  return hash;
}
