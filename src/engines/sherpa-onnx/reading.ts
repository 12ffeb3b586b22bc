import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import type { HeardResult } from "./heard-result.ts";

/**
 * A token without a duration lasts until the next, but no longer than this for each of its
 * characters, and altogether.
 */
const characterMs = 80;
const tokenMsMax = 400;
/** Written without spaces: every character with its punctuation is a word. */
const unspaced = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc`;
const wordPattern = new RegExp(String.raw`[${unspaced}]\p{P}*|[^\s${unspaced}]+`, "gu");
const spaces = /[\s\u2581]+/gu;
/** Sounds and music in the subtitles that models learnt from; nothing that was said. */
const annotation = /\[[^\]]*\]|<[^>]*>|[♪♫♬]/gu;
/** The same in parentheses, which also stand around speech: only where there is nothing else. */
const onlyAside = /^\s*(\([^)]*\)\s*)+$/u;
/** Whose subtitles those were. */
const subtitleCredit = /\bamara\.org\b/iu;

interface TextWord {
  readonly text: string;
  readonly isAfterSpace: boolean;
  /** Its first token, and the one after its last. */
  readonly tokens?: readonly [from: number, to: number];
}

/**
 * What the library heard as a reading with times within the utterance of so many milliseconds;
 * undefined where nothing was said.
 */
export function readingOf(heard: HeardResult, lengthMs: number): Hypothesis | undefined {
  if (onlyAside.test(heard.text) || subtitleCredit.test(heard.text)) return undefined;
  const words = spokenWords(withTokens(wordsOf(heard.text), heard.tokens));
  const text = words
    .map((word, at) => (word.isAfterSpace && at > 0 ? ` ${word.text}` : word.text))
    .join("");
  if (!/[\p{L}\p{N}]/u.test(text)) return undefined;
  const timed = timedWords(words, heard, lengthMs);
  const confidences = timed.flatMap(({ confidence }) => confidence ?? []);
  if (timed.length === 0 || confidences.length < timed.length) return { text, words: timed };
  return { text, confidence: rounded(mean(confidences)), words: timed };
}

/**
 * Readings of parts that follow one another, as one; the second of each pair is where the part
 * begins, in milliseconds.
 */
export function joinedReadings(
  parts: readonly (readonly [reading: Hypothesis, startMs: number])[],
): Hypothesis | undefined {
  if (parts.length === 0) return undefined;
  const text = parts.map(([reading]) => reading.text).join(" ");
  // Times of some words only would say that the others were not said.
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

function wordsOf(heard: string): TextWord[] {
  const text = heard.replace(spaces, " ");
  return Array.from(text.matchAll(wordPattern), ({ 0: word, index }) => ({
    text: word,
    isAfterSpace: /\s/u.test(text[index - 1] ?? ""),
  }));
}

/**
 * Finds the tokens of each word: by their letters where those are the text's, else by the tokens
 * that begin words, where there are as many as words.
 */
function withTokens(words: readonly TextWord[], tokens: readonly string[]): readonly TextWord[] {
  const bare = tokens.map((token) => token.replace(/@@$/u, "").replace(spaces, ""));
  const isSame = bare.join("") === words.map(({ text }) => text).join("");
  return (isSame ? byLetters(words, bare) : byBeginnings(words, tokens)) ?? words;
}

function byLetters(words: readonly TextWord[], bare: readonly string[]): readonly TextWord[] {
  let token = -1;
  /** Letters up to the word, and up to the end of the token. */
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
    // A space by itself: the next token begins the word.
    if (token.replace(spaces, "") === "") continue;
    const last = groups.at(-1);
    if (isBeginning || !last) groups.push([at, at + 1]);
    else last[1] = at + 1;
    isBeginning = false;
  }
  if (groups.length !== words.length) return undefined;
  return words.map((word, at) => ({ ...word, ...(groups[at] && { tokens: groups[at] }) }));
}

/** Without annotations. One may be more than a word. */
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
  heard: HeardResult,
  lengthMs: number,
): readonly EngineWord[] {
  if (heard.startSeconds.length === 0 || words.length > lengthMs) return [];
  const timed: EngineWord[] = [];
  for (const { text, tokens } of words) {
    if (!tokens) return [];
    const [from, to] = tokens;
    const confidence = confidenceOf(heard.logProbabilities.slice(from, to));
    timed.push({
      text,
      startMs: Math.round((heard.startSeconds[from] ?? 0) * 1000),
      endMs: Math.round(tokenEndMs(heard, to - 1)),
      ...(confidence !== undefined && { confidence }),
    });
  }
  return inOrder(timed, Math.floor(lengthMs));
}

function tokenEndMs(heard: HeardResult, at: number): number {
  const startMs = (heard.startSeconds[at] ?? 0) * 1000;
  const durationMs = (heard.durationSeconds[at] ?? 0) * 1000;
  if (durationMs > 0) return startMs + durationMs;
  const letters = heard.tokens[at]?.replace(spaces, "").length ?? 1;
  const endMs = startMs + Math.min(tokenMsMax, characterMs * Math.max(1, letters));
  return Math.min(endMs, (heard.startSeconds[at + 1] ?? Infinity) * 1000);
}

/** Words one after another, each of a millisecond at least, all within the utterance. */
function inOrder(words: readonly EngineWord[], lengthMs: number): readonly EngineWord[] {
  let endMs = lengthMs;
  const ended = words.toReversed().map((word) => {
    const end = Math.min(endMs, Math.max(word.endMs, word.startMs + 1));
    endMs = Math.min(end - 1, word.startMs);
    return { ...word, startMs: endMs, endMs: end };
  });
  // What has no room before it is pushed on: there is room after it, as a word takes a millisecond
  // at least.
  let startMs = 0;
  return ended.toReversed().map((word) => {
    const start = Math.max(startMs, word.startMs);
    startMs = Math.max(start + 1, word.endMs);
    return { ...word, startMs: start, endMs: startMs };
  });
}

/** The geometric mean of its tokens' probabilities; none where they are no probabilities. */
function confidenceOf(logs: readonly number[]): number | undefined {
  if (logs.length === 0 || logs.some((log) => !(log <= 0))) return undefined;
  return rounded(Math.exp(mean(logs)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** To the digits that do not depend on which streams are decoded together. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
