import { ModelFileError } from "../../models/check-model-files.ts";

/** Begins a word, as SentencePiece marks it; alone it is the space between two. */
const wordMark = "\u2581";
const blankSymbols = new Set(["<blk>", "<blank>", "<eps>"]);
/** A space, where letters of words and what is between words are looked up. */
export const spaceLetter = 0x20;

/** What a model can put out, a piece of a word at a time. */
export interface Token {
  /** As written, without the mark of a word's begin. */
  readonly text: string;
  /** What was said before is another word. */
  readonly startsWord: boolean;
  /** Code points of the text in lower case. */
  readonly letters: readonly number[];
}

/**
 * The tokens of a model by their number; undefined is what never comes out: blank, unknown, begin
 * and end of sentence.
 */
export interface TokenTable {
  readonly tokens: readonly (Token | undefined)[];
  readonly blank: number;
}

/** Throws ModelFileError where `path`, the file of these symbols, has no blank. */
export function tokenTable(path: string, symbols: readonly string[]): TokenTable {
  const blank = symbols.findIndex((symbol) => blankSymbols.has(symbol));
  if (blank < 0) throw new ModelFileError(path, "has no blank: <blk>, <blank> or <eps>");
  return { tokens: symbols.map(tokenOf), blank };
}

function tokenOf(symbol: string): Token | undefined {
  if (/^<.+>$/.test(symbol)) return undefined;
  // A tokens file may write the space as no symbol at all.
  const startsWord = symbol === "" || symbol.startsWith(wordMark);
  const text = symbol.replaceAll(wordMark, "");
  return { text, startsWord, letters: lettersOf(text) };
}

/** The code points that a word is looked up by. */
export function lettersOf(text: string): readonly number[] {
  return Array.from(text.normalize("NFC").toLowerCase(), (letter) => letter.codePointAt(0) ?? 0);
}
