import { languageOf } from "./languages.ts";
import { capitalized, endsSentence, writeSentences, type Token } from "./write-sentences.ts";
import type { WritingLanguage } from "./writing-language.ts";

/** A recognized word and its times in milliseconds. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1. */
  readonly confidence?: number;
  /** Whether the times are estimated. */
  readonly estimatedTimes?: true;
}

/** A text without spaces, with the span of the spoken words that it stands for. */
export interface WrittenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** The lowest confidence of the spoken words; absent if one of them has none. */
  readonly confidence?: number;
  /** Whether the times of one of the spoken words are estimated. */
  readonly estimatedTimes?: true;
  /** At least one word. */
  readonly spoken: readonly SpokenWord[];
  /** The spoken words with spaces, if the text is not only the word with a capital or a mark. */
  readonly spokenForm?: string;
}

/** What a caller chooses; all false means the words as they are. */
export interface WritingChoice {
  /** Whether numbers, dates, times, amounts and abbreviations are in digits and signs. */
  readonly formats: boolean;
  /** Whether sentences have capitals, commas, full stops and question marks. */
  readonly punctuation: boolean;
  /** Whether offensive words show only their first letter. */
  readonly masksProfanity: boolean;
}

export interface WritingOptions extends WritingChoice {
  /** The language as in the API: "is-IS" or "en-US". Words of others stay as they are. */
  readonly languageCode: string;
}

/** What is known of an utterance besides its words. */
export interface UtteranceContext {
  /** Whether the first word continues a sentence of the utterance before. Default: false. */
  readonly continues?: boolean;
  /** Whether words may follow: the last sentence is then open. Default: false. */
  readonly isOpen?: boolean;
  /** Whether speech pauses after a word, by its index. Default: by the times. */
  readonly pauses?: readonly boolean[];
}

/** A pause at least this long can end a sentence. */
export const pauseMsMin = 500;

/**
 * Writes the words of an utterance. Each word is in exactly one written word, in order. Texts that
 * a model has already written, with capitals or punctuation, get no more of either.
 */
export function writeWords(
  spoken: readonly SpokenWord[],
  options: WritingOptions,
  { continues = false, isOpen = false, pauses = pausesOf(spoken) }: UtteranceContext = {},
): WrittenWord[] {
  const language = languageOf(options.languageCode);
  if (!language) return spoken.map((word) => ({ ...word, spoken: [word] }));
  const isWritten = hasWriting(spoken);
  const words = spoken.map(({ text }) => bareForm(text));
  const tokens = options.formats ? formatted(spoken, words, language) : plainTokens(spoken);
  const sentences =
    options.punctuation && !isWritten
      ? writeSentences(unshouted(tokens, spoken), words, language, { continues, isOpen, pauses })
      : tokens;
  const masked = options.masksProfanity ? sentences.map(masking(words, language)) : sentences;
  return masked.map((token) => writtenWord(token, spoken));
}

/** Returns the spoken words of a written text, exactly as they were. */
export function spokenWords(written: readonly WrittenWord[]): SpokenWord[] {
  return written.flatMap(({ spoken }) => spoken);
}

/** Returns whether an utterance leaves its last sentence open, so that the next continues it. */
export function leavesOpen(spoken: readonly SpokenWord[], languageCode: string): boolean {
  const language = languageOf(languageCode);
  const last = spoken.at(-1);
  return language !== undefined && last !== undefined
    ? !endsSentence([bareForm(last.text)], 1, language)
    : false;
}

/** Returns whether speech pauses after each word. */
export function pausesOf(spoken: readonly SpokenWord[]): boolean[] {
  return spoken.map(({ endMs }, at) => (spoken[at + 1]?.startMs ?? endMs) - endMs >= pauseMsMin);
}

/** The punctuation that models write after a word. */
const trailing = /[.,?!;:…]+$/u;

/** Returns a word in small letters, without the punctuation after it. */
function bareForm(text: string): string {
  const small = text.toLowerCase();
  // Abbreviations such as "p.m." keep their stops.
  return /^\p{L}(?:\.\p{L})+\.?$/u.test(small) ? small : small.replace(trailing, "");
}

/**
 * Whether a model has written the text: it has punctuation, or begins with a capital and has small
 * letters. Capitals after a small first word are those of hints.
 */
function hasWriting(spoken: readonly SpokenWord[]): boolean {
  const isMarked = spoken.some(({ text }) => bareForm(text) !== text.toLowerCase());
  return isMarked || (isMixed(spoken) && /^\P{L}*\p{Lu}/u.test(spoken[0]?.text ?? ""));
}

function isMixed(spoken: readonly SpokenWord[]): boolean {
  const isSmall = spoken.some(({ text }) => /\p{Ll}/u.test(text));
  return isSmall && spoken.some(({ text }) => /\p{Lu}/u.test(text));
}

function plainTokens(spoken: readonly SpokenWord[]): Token[] {
  return spoken.map(({ text }, at) => ({ text, from: at, to: at + 1, isFormatted: false }));
}

/** Returns texts of models that write capitals only in small letters. */
function unshouted(tokens: readonly Token[], spoken: readonly SpokenWord[]): readonly Token[] {
  if (spoken.some(({ text }) => /\p{Ll}/u.test(text))) return tokens;
  return tokens.map((token) =>
    token.text === spoken[token.from]?.text ? { ...token, text: token.text.toLowerCase() } : token,
  );
}

/** Applies the rules between the marks that a model has written: no number contains a mark. */
function formatted(
  spoken: readonly SpokenWord[],
  words: readonly string[],
  language: WritingLanguage,
): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  for (let end = 1; end <= spoken.length; end += 1) {
    const mark = markAfter(spoken[end - 1], words[end - 1]);
    if (mark === "" && end < spoken.length) continue;
    for (const token of applyRules(words.slice(start, end), language)) {
      const from = token.from + start;
      const to = token.to + start;
      const text = restored(token, spoken, from, to === end ? mark : "");
      tokens.push({ ...token, text, from, to });
    }
    start = end;
  }
  return tokens;
}

function markAfter(spoken: SpokenWord | undefined, word: string | undefined): string {
  return spoken ? spoken.text.slice((word ?? "").length) : "";
}

/** Returns a text with the capital and the mark that its words had. */
function restored(
  { text, isFormatted }: Token,
  spoken: readonly SpokenWord[],
  from: number,
  mark: string,
): string {
  const original = spoken[from]?.text ?? "";
  if (!isFormatted) return original;
  const isCapital = /^\p{Lu}\p{Ll}/u.test(original);
  const kept = isCapital ? capitalized(text) : text;
  return kept.endsWith(".") && mark.startsWith(".") ? kept : kept + mark;
}

function applyRules(words: readonly string[], { rules }: WritingLanguage): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < words.length;) {
    const pieces = firstMatch(words, at, rules);
    if (!pieces) {
      tokens.push({ text: words[at] ?? "", from: at, to: at + 1, isFormatted: false });
      at += 1;
      continue;
    }
    for (const { text, count } of pieces) {
      const isFormatted = count > 1 || text !== words[at];
      tokens.push({ text, from: at, to: at + count, isFormatted });
      at += count;
    }
  }
  return tokens;
}

function firstMatch(words: readonly string[], at: number, rules: WritingLanguage["rules"]) {
  for (const rule of rules) {
    const pieces = rule(words, at);
    if (pieces) return pieces;
  }
  return undefined;
}

/** Returns a function that leaves the first letter of an offensive word, and its punctuation. */
function masking(words: readonly string[], { profanity }: WritingLanguage) {
  return (token: Token): Token => {
    if (token.to - token.from > 1 || !profanity.has(words[token.from] ?? "")) return token;
    const [, first = "", rest = "", mark = ""] = /^(.)(.*?)(\P{L}*)$/su.exec(token.text) ?? [];
    return { ...token, text: first + "*".repeat(Array.from(rest).length) + mark };
  };
}

function writtenWord(
  { text, from, to, isFormatted }: Token,
  spoken: readonly SpokenWord[],
): WrittenWord {
  const words = spoken.slice(from, to);
  const confidences = words.flatMap(({ confidence }) => confidence ?? []);
  const isSure = confidences.length === words.length && words.length > 0;
  return {
    text,
    startMs: words[0]?.startMs ?? 0,
    endMs: words.at(-1)?.endMs ?? 0,
    ...(isSure && { confidence: Math.min(...confidences) }),
    ...(words.some((word) => word.estimatedTimes) && { estimatedTimes: true }),
    spoken: words,
    ...(isFormatted && { spokenForm: words.map((word) => word.text).join(" ") }),
  };
}
