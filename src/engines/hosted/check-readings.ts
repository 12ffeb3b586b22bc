import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import type { ServerReading, ServerResult, ServerWord } from "./hosted-server.ts";
import { ServerFailure } from "./server-failure.ts";

/** No utterance of 20 s or so has this much text. */
const charactersMax = 10_000;
/** No utterance has more final results; a server that sends more has lost its way. */
const resultsMax = 200;
/** By how much the times of a server may exceed the audio: it may have padded it. */
const slackMs = 1000;

/**
 * Returns the readings of an utterance that lasted lengthMs, from the results of its consecutive
 * parts. Nothing is invented: a confidence that cannot be a probability is left out, and so are
 * times of words that cannot be true, or whose words do not make up the text. Throws ServerFailure
 * (refused) for a text that no utterance has.
 */
export function checkedReadings(
  results: readonly ServerResult[],
  { lengthMs, alternativesMax }: { readonly lengthMs: number; readonly alternativesMax: number },
): readonly Hypothesis[] {
  const checked = results
    .map((readings) => readings.map((each) => checkedReading(each, lengthMs)))
    // Where the best reading is silence, the others are what noise could have been.
    .filter(([best]) => best !== undefined)
    .map((readings) => readings.flatMap((each) => each ?? []));
  const [only] = checked;
  const readings = checked.length === 1 && only ? only : joined(checked);
  const isFirst = ({ text }: Hypothesis, at: number) =>
    readings.findIndex((other) => other.text === text) === at;
  const distinct = readings.filter(isFirst).slice(0, alternativesMax);
  for (const { text } of distinct) checkLength(text);
  return distinct;
}

function checkLength(text: string): void {
  if (text.length <= charactersMax) return;
  throw new ServerFailure("refused", `the text has more than ${charactersMax} characters`);
}

/** Throws ServerFailure (refused) if an utterance has too many final results. */
export function checkResults(count: number): void {
  if (count <= resultsMax) return;
  throw new ServerFailure("refused", `the utterance has more than ${resultsMax} results`);
}

/** Returns a reading, or undefined for one without words. */
export function checkedReading(reading: ServerReading, lengthMs: number): Hypothesis | undefined {
  checkLength(reading.text);
  const tokens = tokensOf(reading.text);
  if (!/[\p{L}\p{N}]/u.test(tokens.join(""))) return undefined;
  const confidence = probability(reading.confidence);
  return {
    text: tokens.join(" "),
    ...(confidence !== undefined && { confidence }),
    words: timedWords(tokens, reading.words, lengthMs),
  };
}

/** Control characters separate words, since terminals and browsers show text. */
function tokensOf(text: string): string[] {
  return text.split(/[\p{Cc}\s]+/u).filter((token) => token !== "");
}

/**
 * Returns the words of the text with the times of the server's words. Returns none if there is not
 * one time for each word, or if a time cannot be true.
 */
function timedWords(
  tokens: readonly string[],
  words: readonly ServerWord[],
  lengthMs: number,
): readonly EngineWord[] {
  let [lastStartMs, lastEndMs] = [0, 0];
  const timed: EngineWord[] = [];
  for (const word of words) {
    if (!isPossible(word, { lastStartMs, lengthMs })) return [];
    lastStartMs = word.startMs;
    // Servers round, let words overlap a little, and give times for the audio that they padded.
    const startMs = Math.min(
      Math.max(Math.round(word.startMs), lastEndMs),
      Math.ceil(lengthMs) - 1,
    );
    const endMs = Math.min(Math.max(Math.round(word.endMs), startMs + 1), Math.ceil(lengthMs));
    const confidence = probability(word.confidence);
    timed.push({
      text: word.text,
      startMs,
      endMs,
      ...(confidence !== undefined && { confidence }),
    });
    lastEndMs = endMs;
  }
  const isWhole = timed.every((word) => word.startMs < word.endMs);
  const spoken = timed.filter(({ text }) => text.trim() !== "");
  if (!isWhole || spoken.length !== tokens.length) return [];
  return spoken.map((word, at) => ({ ...word, text: tokens[at] ?? "" }));
}

function isPossible(
  { startMs, endMs }: ServerWord,
  { lastStartMs, lengthMs }: { readonly lastStartMs: number; readonly lengthMs: number },
): boolean {
  // No comparison with NaN is true.
  return startMs >= lastStartMs && endMs >= startMs && endMs <= lengthMs + slackMs;
}

/** 0 stands for an unknown confidence in Google's protocol, and -1 in others. */
function probability(confidence: number | undefined): number | undefined {
  return confidence !== undefined && confidence > 0 && confidence <= 1 ? confidence : undefined;
}

/** Joins the best readings of consecutive parts: others could be combined in too many ways. */
function joined(parts: readonly (readonly Hypothesis[])[]): readonly Hypothesis[] {
  const bests = parts.flatMap(([best]) => best ?? []);
  if (bests.length === 0) return [];
  const confidences = bests.flatMap(({ confidence }) => confidence ?? []);
  const mean = confidences.reduce((sum, each) => sum + each, 0) / confidences.length;
  // If only some words had times, the others would seem not to have been spoken.
  const isTimed = bests.every(({ words }) => words.length > 0);
  const words = isTimed ? bests.flatMap((best) => best.words) : [];
  const isInOrder = words.every((word, at) => word.startMs >= (words[at - 1]?.endMs ?? 0));
  return [
    {
      text: bests.map(({ text }) => text).join(" "),
      ...(confidences.length === bests.length && { confidence: mean }),
      words: isInOrder ? words : [],
    },
  ];
}
