import type { Rule } from "./rule.ts";

/** What writing needs to know of a language. Words are in small letters everywhere. */
export interface WritingLanguage {
  /** The rules for numbers and abbreviations; the first that applies at a word counts. */
  readonly rules: readonly Rule[];
  /** Returns a 1 for each word that begins with a capital as a name or part of one. */
  readonly names: (words: readonly string[]) => Uint8Array;
  /** Whether the words from the index `from` up to, not including, `to` are a question. */
  readonly isQuestion: (words: readonly string[], from: number, to: number) => boolean;
  /** Whether a comma follows the word `at` of a sentence that begins at `from`. */
  readonly commaAfter: (words: readonly string[], at: number, from: number) => boolean;
  /** Whether a comma follows the word `at`, after which a sentence ends at `to`. */
  readonly commaBeforeEnd: (words: readonly string[], at: number, to: number) => boolean;
  /** Words after which a pause does not end a sentence, since another word has to follow. */
  readonly holdsInPause: ReadonlySet<string>;
  /** Words after which not even the end of an utterance ends a sentence. */
  readonly holdsAtEnd: ReadonlySet<string>;
  /** The offensive words that masking replaces, in all forms. */
  readonly profanity: ReadonlySet<string>;
}
