import type { SpokenWord, WordArc } from "../alignment/word-lattice.ts";
import { lettersOf, spaceLetter, type TokenTable } from "./token-table.ts";

/** A letter that the model lacks, which may be any sound: a number, or another script. */
const anySound = -1;
/** Marks without a sound. These signs, which Unicode calls punctuation, are spoken. */
const silent = /^[\p{P}\p{Z}\p{C}\p{M}]$/u;
const spokenSigns = new Set("%&@#§*");

/** Spells words with the tokens of a model, in every way that is possible. */
export class Speller {
  /** The tokens by their first letter. */
  readonly #tokens = new Map<number, { number: number; letters: readonly number[] }[]>();
  /** The letters that are tokens of their own, so that every spelling can be completed. */
  readonly #letters = new Set<number>();
  readonly #startsWord: readonly boolean[];
  /** Whether words may begin with a token that does not mark the beginning of a word. */
  readonly #hasOwnSpace: boolean;

  constructor({ tokens }: TokenTable) {
    this.#startsWord = tokens.map((token) => token?.startsWord ?? false);
    for (const [number, token] of tokens.entries()) {
      const [first] = token?.letters ?? [];
      if (!token || first === undefined || first === spaceLetter) continue;
      const { letters } = token;
      if (letters.length === 1) this.#letters.add(first);
      const same = this.#tokens.get(first);
      if (same) same.push({ number, letters });
      else this.#tokens.set(first, [{ number, letters }]);
    }
    const isSpace = (token: TokenTable["tokens"][number]) =>
      token?.startsWord === true && token.text.trim() === "";
    this.#hasOwnSpace = tokens.some(isSpace) || !this.#startsWord.includes(true);
  }

  /** Returns a word with its letters; a run of letters that the model lacks counts as one. */
  spell(word: string): SpokenWord {
    const letters = this.#lettersOf(word);
    const arcs = letters.flatMap((letter, from): WordArc[] => {
      if (letter === anySound) return [{ from, to: from + 1, token: undefined }];
      const all = (this.#tokens.get(letter) ?? []).filter((token) =>
        token.letters.every((each, index) => letters[from + index] === each),
      );
      const fitting = all.filter(({ number }) => this.#mayStand(number, from));
      return (fitting.some((token) => token.letters.length === 1) ? fitting : all).map((token) => ({
        from,
        to: from + token.letters.length,
        token: token.number,
      }));
    });
    return { length: letters.length, arcs };
  }

  #mayStand(token: number, from: number): boolean {
    const starts = this.#startsWord[token] ?? false;
    return from === 0 ? starts || this.#hasOwnSpace : !starts;
  }

  /** The letters of a word; letters with marks that the model lacks are read without them. */
  #lettersOf(word: string): number[] {
    const letters: number[] = [];
    for (const letter of lettersOf(word)) {
      const text = String.fromCodePoint(letter);
      const [base = letter] = lettersOf(text.normalize("NFD").slice(0, 1));
      const known = [letter, base].find((each) => this.#letters.has(each));
      if (known !== undefined) letters.push(known);
      else if (silent.test(text) && !spokenSigns.has(text)) continue;
      else if (letters.at(-1) !== anySound) letters.push(anySound);
    }
    return letters;
  }
}
