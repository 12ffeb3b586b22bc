import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import type { LibraryResult } from "./library-result.ts";

/**
 * The maximum duration for each character of a token without a duration. Such a token lasts until
 * the next one, but at most this long per character and tokenMsMax in total.
 */
const characterMs = 80;
const tokenMsMax = 400;
/** Scripts without spaces, in which every character, with its punctuation, is a word. */
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc`;
const wordPattern = new RegExp(String.raw`[${unspaced}]\p{P}*|[^\s${unspaced}]+`, "gu");
const spaces = /[\s\u2581]+/gu;
/**
 * Annotations of sounds and music, from the subtitles that models are trained on. They are not
 * speech.
 */
const annotation = /\[[^\]]*\]|<[^>]*>|[♪♫♬]/gu;
/**
 * Annotations in parentheses. Parentheses can also enclose speech, so they count only if there is
 * no other text.
 */
const onlyAside = /^\s*(\([^)]*\)\s*)+$/u;
/** The credit line of such subtitles. */
const subtitleCredit = /\bamara\.org\b/iu;

interface TextWord {
  readonly text: string;
  readonly isAfterSpace: boolean;
  /** The index of the word's first token, and the index after its last token. */
  readonly tokens?: readonly [from: number, to: number];
}

/**
 * Converts the library's result to a reading with times within an utterance of this length. Returns
 * undefined if there are no words.
 */
export function readingOf(result: LibraryResult, lengthMs: number): Hypothesis | undefined {
  if (onlyAside.test(result.text) || subtitleCredit.test(result.text)) return undefined;
  const words = spokenWords(withTokens(wordsOf(result.text), result.tokens));
  const text = words
    .map((word, at) => (word.isAfterSpace && at > 0 ? ` ${word.text}` : word.text))
    .join("");
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  const timed = timedWords(words, result, lengthMs);
  const confidences = timed.flatMap(({ confidence }) => confidence ?? []);
  if (timed.length === 0 || confidences.length < timed.length) return { text, words: timed };
  return { text, confidence: rounded(mean(confidences)), words: timed };
}

/**
 * Joins readings of consecutive parts. The second value of each pair is the start of the part in
 * milliseconds.
 */
export function joinedReadings(
  parts: readonly (readonly [reading: Hypothesis, startMs: number])[],
): Hypothesis | undefined {
  if (parts.length === 0) return undefined;
  const text = parts.map(([reading]) => reading.text).join(" ");
  // If only some words had times, the others would seem not to have been spoken.
  const isTimed = parts.every(([reading]) => reading.words.length > 0);
  const words = parts.flatMap(([reading, startMs]) =>
    reading.words.map((word) => ({
      ...word,
      startMs: word.startMs + startMs,
      endMs: word.endMs + startMs,
    })),
  );
  const confidences = parts.flatMap(([{ confidence }]) => confidence ?? []);
  return {
    text,
    ...(confidences.length === parts.length && { confidence: rounded(mean(confidences)) }),
    words: isTimed ? words : [],
  };
}

function wordsOf(written: string): TextWord[] {
  const text = written.replace(spaces, " ");
  return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => ({
    text: word,
    isAfterSpace: /\s/u.test(text[index - 1] ?? ""),
  }));
}

/**
 * Finds the tokens of each word: by their letters if the tokens spell the text, otherwise by the
 * tokens that begin words, if there are as many of these as words.
 */
function withTokens(words: readonly TextWord[], tokens: readonly string[]): readonly TextWord[] {
  const bare = tokens.map((token) => token.replace(/@@$/u, "").replace(spaces, ""));
  const isSame = bare.join("") === words.map(({ text }) => text).join("");
  return (isSame ? byLetters(words, bare) : byBeginnings(words, tokens)) ?? words;
}

function byLetters(words: readonly TextWord[], bare: readonly string[]): readonly TextWord[] {
  let token = -1;
  /** The number of letters before the word, and the number up to the end of the token. */
  let letters = 0;
  let tokenLetters = 0;
  const reach = (count: number) => {
    while (tokenLetters < count) tokenLetters += bare[++token]?.length ?? Infinity;
    return token;
  };
  return words.map((word) => {
    const from = reach(letters + 1);
    letters += word.text.length;
    return { ...word, tokens: [from, reach(letters) + 1] };
  });
}

function byBeginnings(
  words: readonly TextWord[],
  tokens: readonly string[],
): readonly TextWord[] | undefined {
  const groups: [from: number, to: number][] = [];
  let isBeginning = true;
  for (const [at, token] of tokens.entries()) {
    isBeginning ||= /^[\s\u2581]/u.test(token);
    // If the token is only a space, the next token begins the word.
    if (token.replace(spaces, "") === "") continue;
    const last = groups.at(-1);
    if (isBeginning || !last) groups.push([at, at + 1]);
    else last[1] = at + 1;
    isBeginning = false;
  }
  if (groups.length !== words.length) return undefined;
  return words.map((word, at) => ({ ...word, ...(groups[at] && { tokens: groups[at] }) }));
}

/** Removes annotations, which may span several words. */
function spokenWords(words: readonly TextWord[]): readonly TextWord[] {
  const text = words.map((word) => word.text).join("\n");
  const spans = Array.from(text.matchAll(annotation), ({ 0: found, index }) => [
    index,
    index + found.length,
  ]);
  if (spans.length === 0) return words;
  let at = 0;
  return words.filter((word) => {
    const start = at;
    at += word.text.length + 1;
    return !spans.some(([from = 0, to = 0]) => start < to && start + word.text.length > from);
  });
}

function timedWords(
  words: readonly TextWord[],
  result: LibraryResult,
  lengthMs: number,
): readonly EngineWord[] {
  if (result.startSeconds.length === 0 || words.length > lengthMs) return [];
  const timed: EngineWord[] = [];
  for (const { text, tokens } of words) {
    if (!tokens) return [];
    const [from, to] = tokens;
    const confidence = confidenceOf(result.logProbabilities.slice(from, to));
    timed.push({
      text,
      startMs: Math.round((result.startSeconds[from] ?? 0) * 1000),
      endMs: Math.round(tokenEndMs(result, to - 1)),
      ...(confidence !== undefined && { confidence }),
    });
  }
  return inOrder(timed, Math.floor(lengthMs));
}

function tokenEndMs(result: LibraryResult, at: number): number {
  const startMs = (result.startSeconds[at] ?? 0) * 1000;
  const durationMs = (result.durationSeconds[at] ?? 0) * 1000;
  if (durationMs > 0) return startMs + durationMs;
  const letters = result.tokens[at]?.replace(spaces, "").length ?? 1;
  const endMs = startMs + Math.min(tokenMsMax, characterMs * Math.max(1, letters));
  return Math.min(endMs, (result.startSeconds[at + 1] ?? Infinity) * 1000);
}

/** Returns the words in order, each at least a millisecond long, all within the utterance. */
function inOrder(words: readonly EngineWord[], lengthMs: number): readonly EngineWord[] {
  let endMs = lengthMs;
  const ended = words.toReversed().map((word) => {
    const end = Math.min(endMs, Math.max(word.endMs, word.startMs + 1));
    endMs = Math.min(end - 1, word.startMs);
    return { ...word, startMs: endMs, endMs: end };
  });
  // Words without room are moved later. The utterance has at least a millisecond for each word.
  let startMs = 0;
  return ended.toReversed().map((word) => {
    const start = Math.max(startMs, word.startMs);
    startMs = Math.max(start + 1, word.endMs);
    return { ...word, startMs: start, endMs: startMs };
  });
}

/**
 * Returns the geometric mean of the tokens' probabilities; undefined if the values are not
 * probabilities.
 */
function confidenceOf(logs: readonly number[]): number | undefined {
  if (logs.length === 0 || logs.some((log) => !(log <= 0))) return undefined;
  return rounded(Math.exp(mean(logs)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rounds to digits that do not depend on which streams are decoded together. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
