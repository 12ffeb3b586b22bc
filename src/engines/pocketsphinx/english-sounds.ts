import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { icelandicSounds } from "./icelandic-sounds.ts";
import { spokenNumber } from "./spoken-number.ts";

/** The contexts of letters and their phones, made by tools/en-US-sounds/train.ts. */
const sounds = new URL("./english-sounds.br", import.meta.url);
/** The maximum length of a word in capitals that is read letter by letter. */
const initialsMax = 5;
const vowels = /[aeiouyáéíóúýæö]/;
const foreignLetters = /[þðæöáéíóúý]/;
const letterNames: Readonly<Record<string, string>> = {
  a: "EY",
  b: "B IY",
  c: "S IY",
  d: "D IY",
  e: "IY",
  f: "EH F",
  g: "JH IY",
  h: "EY CH",
  i: "AY",
  j: "JH EY",
  k: "K EY",
  l: "EH L",
  m: "EH M",
  n: "EH N",
  o: "OW",
  p: "P IY",
  q: "K Y UW",
  r: "AA R",
  s: "EH S",
  t: "T IY",
  u: "Y UW",
  v: "V IY",
  w: "D AH B AH L Y UW",
  x: "EH K S",
  y: "W AY",
  z: "Z IY",
};
/** How letters that English lacks are spelled in it, if removing their marks does not suffice. */
const spellings: Readonly<Record<string, string>> = {
  þ: "th",
  ð: "th",
  æ: "ae",
  œ: "e",
  ø: "o",
  ö: "o",
  ü: "u",
  ä: "a",
  å: "o",
  ß: "ss",
  ł: "w",
  đ: "d",
  ı: "i",
  ñ: "ny",
  č: "ch",
  š: "sh",
  ž: "zh",
};

/**
 * The pronunciation of words that the dictionary lacks. Each letter is read in its context of
 * letters and of the phones before it: the longest context that is known decides.
 */
export class EnglishSounds {
  readonly #contexts = new Map<string, readonly string[]>();

  constructor(text = brotliDecompressSync(readFileSync(sounds)).toString()) {
    for (const line of text.split("\n")) {
      const [context = "", ...phones] = line.split(" ");
      this.#contexts.set(context, phones);
    }
  }

  /**
   * Returns how a word may be said, likeliest first: phones separated by spaces. Capitals and
   * digits matter: "ZXQ" is read letter by letter. Empty if the word has no letter that can be
   * read.
   */
  soundsOf(word: string): readonly string[] {
    const plain = word.normalize("NFC");
    const lower = plain.toLowerCase();
    if (/^\p{Lu}+$/u.test(plain) && plain.length <= initialsMax) {
      const spelled = Array.from(spelling(lower), (letter) => letterNames[letter] ?? "").join(" ");
      return distinct([spelled, vowels.test(lower) ? this.#read(lower) : ""]);
    }
    const isIcelandic = foreignLetters.test(lower);
    return distinct([isIcelandic ? icelandicSounds(lower) : "", this.#read(lower)]);
  }

  /** Reads a word from left to right, with its numbers. */
  #read(lower: string): string {
    const parts = lower.match(/\d+|\D+/g) ?? [];
    return parts
      .flatMap((part) => {
        if (/^\d/.test(part)) return spokenNumber(part);
        return letterNames[part] ?? this.phonesOf(spelling(part));
      })
      .join(" ");
  }

  /** Returns the phones of a word of the letters a to z. */
  phonesOf(word: string): readonly string[] {
    const read: (readonly string[])[] = [];
    for (const at of Array.from(word).keys()) {
      const contexts = contextsOf(word, at, read.at(-1));
      const known = contexts.findLast((context) => this.#contexts.has(context)) ?? "";
      read.push(this.#contexts.get(known) ?? []);
    }
    return read.flat();
  }
}

/**
 * What decides how a letter is read, the most important first: letters at these places, and the
 * phones of the letter before.
 */
const features = [0, 1, -1, "before", 2, -2, 3, -3, 4] as const;

/** Returns the contexts of a letter, each with one feature more than the one before. */
export function contextsOf(
  word: string,
  at: number,
  before: readonly string[] | undefined,
): readonly string[] {
  let context = "";
  return features.map((feature) => {
    context += feature === "before" ? `<${before?.join("_") ?? "#"}>` : (word[at + feature] ?? "#");
    return context;
  });
}

/** Spells a word in the letters a to z. */
function spelling(lower: string): string {
  return Array.from(lower, (letter) => spellings[letter] ?? letter)
    .join("")
    .normalize("NFD")
    .replaceAll(/[^a-z]/g, "");
}

function distinct(sounds: readonly string[]): readonly string[] {
  return [...new Set(sounds.map((each) => each.trim()).filter((each) => each !== ""))];
}
