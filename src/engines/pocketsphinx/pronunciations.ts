import { readFileSync } from "node:fs";
import { EnglishSounds } from "./english-sounds.ts";
import { englishModel } from "./sphinx-library.ts";

/** A sound of a word: the phones of its pronunciations; undefined for any sound. */
export type SpokenPart = readonly (readonly string[])[] | undefined;

/** The signs that are spoken, although they are not letters. */
const spokenSigns = /[%&@#§$€£+=\d]/u;
/** The maximum length of a word in capitals that is read letter by letter. */
const initialsMax = 5;
/** How words of American English are said. */
export class Pronunciations {
  /** The pronunciations of each word, as phones separated by spaces. */
  readonly #words = new Map<string, string[]>();
  /** How words are said that the dictionary lacks. */
  readonly #sounds = new EnglishSounds();

  /** Reads the dictionary of the model. */
  constructor(text = readFileSync(englishModel.dictionary, "utf8")) {
    for (const line of text.split("\n")) {
      const at = line.indexOf(" ");
      if (at < 1) continue;
      const [word, phones] = [line.slice(0, at).replace(/\(\d+\)$/, ""), line.slice(at + 1).trim()];
      const same = this.#words.get(word);
      if (same) same.push(phones);
      else this.#words.set(word, [phones]);
    }
  }

  /**
   * Returns the parts of a word, one after another: a word of the dictionary has one part, a number
   * may be any sound. A word without parts is silent.
   */
  partsOf(word: string): readonly SpokenPart[] {
    const plain = word.normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("’", "'");
    const whole = this.#find(plain.toLowerCase().replaceAll(/^[^\p{L}\d]+|[^\p{L}\d]+$/gu, ""));
    if (whole && !spokenSigns.test(plain)) return [whole];
    const runs = plain.match(/[A-Za-z']+|[^A-Za-z'\p{P}\p{Z}\p{C}\p{M}]+|[%&@#§]/gu) ?? [];
    const parts = runs.flatMap((run): SpokenPart[] => {
      if (!/[A-Za-z]/.test(run)) return run === "'" ? [] : [undefined];
      return this.#wordParts(run);
    });
    // One number is one sound, however it is written.
    return parts.filter(
      (part, at) => part !== undefined || at === 0 || parts[at - 1] !== undefined,
    );
  }

  #find(word: string): SpokenPart {
    return this.#words.get(word)?.map((phones) => phones.split(" "));
  }

  #wordParts(run: string): SpokenPart[] {
    const word = run.toLowerCase().replaceAll(/^'+|'+$/g, "");
    const known = this.#find(word);
    if (known) return [known];
    const isInitials = run.length <= initialsMax && run === run.toUpperCase();
    if (isInitials) return Array.from(word, (letter) => this.#find(letter)).filter(Boolean);
    const [, stem = "", ending] = /^(.+?)('s|s)$/.exec(word) ?? [];
    const stemKnown = ending === undefined ? undefined : this.#find(stem);
    if (stemKnown) return [stemKnown, [["Z"], ["S"]]];
    const phones = this.#sounds.phonesOf(word.replaceAll("'", ""));
    return [phones.length > 0 ? [phones] : undefined];
  }
}
