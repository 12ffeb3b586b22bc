import type { WritingLanguage } from "./writing-language.ts";

/** A text for the words from the index `from` up to, not including, `to`. */
export interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** Whether a rule wrote the text: it is not only the word with a capital or a mark. */
  readonly isFormatted: boolean;
}

export interface SentenceOptions {
  /** Whether speech pauses after a word, by its index. */
  readonly pauses: readonly boolean[];
  /** Whether the utterance may continue, so that its last sentence is open. */
  readonly isOpen: boolean;
  /** Whether the first word continues a sentence of the utterance before. */
  readonly continues: boolean;
}

/**
 * Adds capitals, commas, full stops and question marks to the tokens of an utterance. `words` are
 * the spoken words in small letters.
 */
export function writeSentences(
  tokens: readonly Token[],
  words: readonly string[],
  language: WritingLanguage,
  { pauses, isOpen, continues }: SentenceOptions,
): Token[] {
  const names = language.names(words);
  const written: Token[] = [];
  let sentence: Token[] = [];
  const endSentence = (isLast: boolean): void => {
    const from = sentence[0]?.from ?? 0;
    const to = sentence.at(-1)?.to ?? 0;
    const isEnded = !isLast || (!isOpen && endsSentence(words, to, language));
    const mark = isEnded ? (language.isQuestion(words, from, to) ? "?" : ".") : "";
    const isNew = written.length > 0 || !continues;
    for (const token of sentence) {
      const isFirst = token.from === from && isNew;
      const text = isFirst || names[token.from] === 1 ? capitalized(token.text) : token.text;
      if (token.to === to) written.push({ ...token, text: ended(text, mark) });
      else {
        const hasComma =
          language.commaAfter(words, token.to - 1, from) ||
          (mark === "?" && language.commaBeforeEnd(words, token.to - 1, to));
        written.push(hasComma ? { ...token, text: withComma(text) } : { ...token, text });
      }
    }
    sentence = [];
  };
  for (const token of tokens) {
    sentence.push(token);
    const last = token.to - 1;
    const isEnd = (pauses[last] ?? false) && !language.holdsInPause.has(words[last] ?? "");
    if (isEnd && token !== tokens.at(-1)) endSentence(false);
  }
  if (sentence.length > 0) endSentence(true);
  return written;
}

/** Returns whether an utterance that ends at `to` ends a sentence with it. */
export function endsSentence(
  words: readonly string[],
  to: number,
  { holdsAtEnd }: WritingLanguage,
): boolean {
  return !holdsAtEnd.has(words[to - 1] ?? "");
}

/** Returns a text whose first letter is a capital. */
export function capitalized(text: string): string {
  const [first = ""] = text;
  return first.toLocaleUpperCase("is") + text.slice(first.length);
}

/** An ordinal or abbreviation at the end of a sentence has one full stop. */
function ended(text: string, mark: string): string {
  return mark === "." && text.endsWith(".") ? text : text + mark;
}

function withComma(text: string): string {
  return text.endsWith(",") ? text : `${text},`;
}
