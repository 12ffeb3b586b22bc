import { ModelFileError } from "../../models/check-model-files.ts";

/**
 * SentencePiece's mark for the beginning of a word; by itself it is the space between two words.
 */
const wordMark = "\u2581";
const blankSymbols = new Set(["<blk>", "<blank>", "<eps>"]);
/** The space between words, as a letter. */
export const spaceLetter = 0x20;

/** An output of a model: a part of a word. */
export interface Token {
  /** The text as the model writes it, without the mark of a word's beginning. */
  readonly text: string;
  /** Whether the token begins a word. */
  readonly startsWord: boolean;
  /** The code points of the text in lower case. */
  readonly letters: readonly number[];
}

/**
 * The tokens of a model by number; undefined for tokens without text: blank, unknown, and beginning
 * and end of sentence.
 */
export interface TokenTable {
  readonly tokens: readonly (Token | undefined)[];
  readonly blank: number;
}

/**
 * Creates the table of these symbols. Throws ModelFileError if `path`, the file of the symbols, has
 * no blank.
 */
export function tokenTable(path: string, symbols: readonly string[]): TokenTable {
  const blank = symbols.findIndex((symbol) => blankSymbols.has(symbol));
  if (blank < 0) throw new ModelFileError(path, "has no blank: <blk>, <blank> or <eps>");
  return { tokens: symbols.map(tokenOf), blank };
}

function tokenOf(symbol: string): Token | undefined {
  if (/^<.+>$/.test(symbol)) return undefined;
  // In a tokens file the space may be an empty symbol.
  const startsWord = symbol === "" || symbol.startsWith(wordMark);
  const text = symbol.replaceAll(wordMark, "");
  return { text, startsWord, letters: lettersOf(text) };
}

/** The code points of a word, as letters for a trie. */
export function lettersOf(text: string): readonly number[] {
  return Array.from(text.normalize("NFC").toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
}
