import { shown, type Violations } from "../../std/service-error.ts";
import type { Hint, RecognitionMode } from "./engine.ts";
import { foldedWords } from "./hint-words.ts";
import type { Recognizer } from "./recognizer.ts";

/**
 * The maximum number of phrases in all hints of a call, of characters in a phrase, and the maximum
 * boost of a phrase (docs/api.md, Speech).
 */
export const hintPhrasesMax = 500;
export const hintCharsMax = 100;
export const hintBoostMax = 20;
export const hintBoostDefault = 10;
/** The maximum number of texts that a phrase sounds like. */
export const hintSoundsLikeMax = 5;

/** Phrases with one boost, as callers send them. */
export interface PhraseContext {
  readonly phrases: readonly string[];
  /** 0 means the default. */
  readonly boost: number;
  /** Texts that sound like the phrase, of which there is then only one. */
  readonly soundsLike?: readonly string[];
}

/** What the hints are for. */
export interface HintUse {
  readonly recognizer: Pick<Recognizer, "languageCodes" | "takesHints">;
  /** The language as its model has it; a language without a model is not checked. */
  readonly languageCode: string;
  readonly mode: RecognitionMode;
  /** The model that the caller has chosen. */
  readonly model?: string | undefined;
  /**
   * Whether hints that the model cannot use are ignored, and phrases that occur twice. Clients of
   * google.cloud.speech.v1 send hints to any model.
   */
  readonly ignoresUnsupported: boolean;
}

/**
 * Checks the phrases at `field` and adds every violation. Returns the hints; undefined if there are
 * none or they are ignored. The result is valid only if there are no violations.
 */
export function checkHints(
  contexts: readonly PhraseContext[],
  field: string,
  use: HintUse,
  violations: Violations,
): readonly Hint[] | undefined {
  const count = contexts.reduce((sum, { phrases }) => sum + phrases.length, 0);
  if (count > hintPhrasesMax) {
    violations.add(field, `has ${count} phrases; at most ${hintPhrasesMax} are allowed`);
  }
  const places = new Map<string, string>();
  for (const [index, context] of contexts.entries()) {
    const { phrases, boost } = context;
    if (!(boost >= 0 && boost <= hintBoostMax)) {
      violations.add(`${field}[${index}].boost`, `must be 0 to ${hintBoostMax}, not ${boost}`);
    }
    checkSoundsLike(context, `${field}[${index}].soundsLike`, violations);
    for (const [at, phrase] of phrases.entries()) {
      const place = `${field}[${index}].phrases[${at}]`;
      const words = foldedWords(phrase).join(" ");
      const earlier = places.get(words);
      const problem = phraseProblem(phrase);
      if (problem !== undefined) violations.add(place, problem);
      else if (earlier === undefined) places.set(words, place);
      else if (!use.ignoresUnsupported) {
        violations.add(place, `is ${shown(phrase)}, which ${earlier} has already`);
      }
    }
  }
  if (count === 0) return undefined;
  if (!use.recognizer.takesHints(use.languageCode, use.mode, use.model)) {
    const isServed = use.recognizer.languageCodes(use.mode).includes(use.languageCode);
    if (isServed && !use.ignoresUnsupported) {
      violations.add(field, `cannot be used by the model of ${use.languageCode}`);
    }
    return undefined;
  }
  return contexts.flatMap(({ phrases, boost, soundsLike = [] }) =>
    phrases.map((phrase) => ({
      phrase,
      boost: boost === 0 ? hintBoostDefault : boost,
      ...(soundsLike.length > 0 && { soundsLike }),
    })),
  );
}

function checkSoundsLike(
  { phrases, soundsLike = [] }: PhraseContext,
  field: string,
  violations: Violations,
): void {
  if (soundsLike.length === 0) return;
  if (phrases.length !== 1) {
    violations.add(field, `needs exactly one phrase, not ${phrases.length}`);
  }
  if (soundsLike.length > hintSoundsLikeMax) {
    const problem = `has ${soundsLike.length} texts; at most ${hintSoundsLikeMax} are allowed`;
    violations.add(field, problem);
  }
  const places = new Map<string, number>();
  for (const [at, text] of soundsLike.entries()) {
    const words = foldedWords(text).join(" ");
    const earlier = places.get(words);
    const problem = phraseProblem(text);
    if (problem !== undefined) violations.add(`${field}[${at}]`, problem);
    else if (earlier === undefined) places.set(words, at);
    else violations.add(`${field}[${at}]`, `is the same as soundsLike[${earlier}]`);
  }
}

/** Returns what is wrong with a phrase; undefined if nothing is. */
export function phraseProblem(phrase: string): string | undefined {
  if (/\p{Cc}/u.test(phrase)) return "has a control character";
  if (!/[\p{L}\p{N}]/u.test(phrase)) return "has no letter or digit";
  if (phrase.length <= hintCharsMax) return undefined;
  return `has ${phrase.length} characters; at most ${hintCharsMax} are allowed`;
}
