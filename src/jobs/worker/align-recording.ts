import { setTimeout as sleep } from "node:timers/promises";
import { attemptsMax } from "../../database/lease.ts";
import {
  type AlignedWindow,
  type Aligner,
  alignedWordsMax,
  type WordTime,
} from "../../engines/protocol/alignment.ts";
import { ServiceError } from "../../std/service-error.ts";

/** A section of a text, with about the time at which it was said. */
export interface SpokenSegment {
  readonly startMs: number;
  readonly endMs: number;
  readonly words: readonly string[];
}

/** A recording whose windows are read from its start to its end; HeldAudio has the samples. */
export interface AlignableRecording {
  /** The length of the recording as far as it is known. */
  readonly heldUntilMs: number;
  /** Reads up to this time. Returns whether the recording is longer. */
  reaches(ms: number): Promise<boolean>;
  /** Returns a section up to `heldUntilMs`. */
  window(startMs: number, endMs: number): Promise<AlignedWindow>;
  /** Drops the part before this time, which is not read any more. */
  drop(beforeMs: number): void;
  /** Reads to the end of the recording. Returns its length in milliseconds. */
  drain(): Promise<number>;
}

export interface AlignRecordingOptions {
  readonly languageCode: string;
  readonly aligner: Pick<Aligner, "align">;
  readonly signal: AbortSignal;
  /** Called with the milliseconds of the recording aligned so far, which only rise. */
  readonly onProgress?: (ms: number) => void;
  /** The wait before a window is aligned again after its engine was lost. Default 250. */
  readonly retryMs?: number;
}

export interface AlignedRecording {
  /** The times of the words of each segment, in the order of the segments. They never decrease. */
  readonly segments: readonly (readonly WordTime[])[];
  readonly durationMs: number;
}

/** A window, and how far from it the times of its words may be. */
const usual = { windowMs: 120_000, awayMs: 15_000 } as const;
/** The window if few words were found, because the times of the text are wrong. */
const wide = { windowMs: 240_000, awayMs: 120_000 } as const;
/** Audio without text for this long is not aligned, except for its end. */
const silentMsMin = 75_000;
/** The time at the end of a window in which words are not yet sure, as others may follow them. */
const unsureMs = 8_000;
/** The time before its first word at which a window begins. */
const leadMs = 100;
/** The number of words in a row, and their least score, after which the next window may begin. */
const sureWords = 3;
const sureScore = 0.4;
/** The least share of the words of a window that are found, if its text belongs to it. */
const foundShareMin = 0.4;

/** A word with about the time at which it was said. */
interface ExpectedWord {
  readonly text: string;
  readonly aboutMs: number;
}

/** The times of the words of a window, and its first word. */
interface WindowTimes {
  readonly first: number;
  readonly words: readonly WordTime[];
  readonly startMs: number;
  readonly endMs: number;
  readonly isLast: boolean;
}

/**
 * Aligns the words of a text to a recording, window by window. The words are expected in the order
 * of the text, and about at the times of their segments: some may be wrong, missing or added, and
 * the times may be wrong by seconds. Each window begins with the last word that the one before it
 * found for sure. Throws ServiceError as Aligner.align() does, and the errors of the recording.
 */
export async function alignRecording(
  audio: AlignableRecording,
  segments: readonly SpokenSegment[],
  options: AlignRecordingOptions,
): Promise<AlignedRecording> {
  const expected = segments.flatMap(expectedWords);
  const times: WordTime[] = [];
  let startMs = 0;
  while (times.length < expected.length) {
    options.signal.throwIfAborted();
    const first = Math.max(0, times.length - 1);
    const { aboutMs } = expected[times.length] ?? { aboutMs: 0 };
    if (aboutMs - startMs > silentMsMin) startMs = aboutMs - usual.awayMs;
    audio.drop(startMs);
    const window = await alignWindow(audio, expected, { first, startMs, options });
    const next = acceptWords(times, window, expected);
    options.onProgress?.(Math.min(next, audio.heldUntilMs));
    startMs = next;
  }
  const durationMs = await audio.drain();
  options.onProgress?.(durationMs);
  const ordered = inOrder(times, durationMs);
  let at = 0;
  return {
    segments: segments.map(({ words }) => ordered.slice(at, (at += words.length))),
    durationMs,
  };
}

function expectedWords({ startMs, endMs, words }: SpokenSegment): ExpectedWord[] {
  const lengthMs = Math.max(0, endMs - startMs);
  return words.map((text, index) => ({
    text,
    aboutMs: Math.max(0, startMs) + (lengthMs * index) / words.length,
  }));
}

/** Aligns the window that begins here. If few words are found, aligns a wider one instead. */
async function alignWindow(
  audio: AlignableRecording,
  expected: readonly ExpectedWord[],
  from: {
    readonly first: number;
    readonly startMs: number;
    readonly options: AlignRecordingOptions;
  },
): Promise<WindowTimes> {
  let aligned = await alignWithin(audio, expected, { ...from, ...usual });
  if (!isFound(aligned, expected) && (!aligned.isLast || aligned.startMs > 0)) {
    const wider = await alignWithin(audio, expected, { ...from, ...wide });
    if (foundCount(wider) > foundCount(aligned)) aligned = wider;
  }
  return aligned;
}

async function alignWithin(
  audio: AlignableRecording,
  expected: readonly ExpectedWord[],
  from: {
    readonly first: number;
    readonly startMs: number;
    readonly windowMs: number;
    readonly awayMs: number;
    readonly options: AlignRecordingOptions;
  },
): Promise<WindowTimes> {
  const { first, startMs, windowMs, awayMs, options } = from;
  const endMs = startMs + windowMs;
  const isLast = !(await audio.reaches(endMs));
  const window = await audio.window(startMs, endMs);
  const after = expected.findIndex(
    ({ aboutMs }, index) => index > first && aboutMs > endMs + awayMs,
  );
  const until = isLast || after < 0 ? expected.length : after;
  const texts = expected.slice(first, Math.min(until, first + alignedWordsMax));
  const found = await align(
    window,
    texts.map(({ text }) => text),
    options,
  );
  const words = found.map((word) => ({
    ...word,
    startMs: startMs + word.startMs,
    endMs: startMs + word.endMs,
  }));
  return { first, words, startMs, endMs: Math.min(endMs, audio.heldUntilMs), isLast };
}

function foundCount({ words }: WindowTimes): number {
  return words.filter(({ score }) => score >= sureScore).length;
}

/** Returns whether enough of the words that belong to the window were found in it. */
function isFound(window: WindowTimes, expected: readonly ExpectedWord[]): boolean {
  const { first, words, startMs, endMs } = window;
  const due = words.filter((_, index) => {
    const aboutMs = expected[first + index]?.aboutMs ?? 0;
    return aboutMs >= startMs && aboutMs < endMs;
  });
  return due.length < sureWords || foundCount(window) >= foundShareMin * due.length;
}

/**
 * Adds the sure words of a window to the times. Returns where the next window begins: with the last
 * of these words.
 */
function acceptWords(
  times: WordTime[],
  window: WindowTimes,
  expected: readonly ExpectedWord[],
): number {
  const { first, words, startMs, endMs, isLast } = window;
  const fresh = words.slice(times.length - first);
  if (isLast && first + words.length === expected.length) {
    times.push(...fresh);
    return endMs;
  }
  const last = words.findLastIndex(
    (word, index) =>
      word.endMs <= endMs - unsureMs &&
      words.slice(Math.max(0, index + 1 - sureWords), index + 1).every(isSure),
  );
  const lastWord = words[last];
  if (lastWord && first + last >= times.length && lastWord.startMs > startMs) {
    times.push(...words.slice(times.length - first, last + 1));
    return Math.max(startMs, lastWord.startMs - leadMs);
  }
  // Nothing of this text is in this window. Its words keep their times.
  const middleMs = isLast ? Infinity : (startMs + endMs) / 2;
  for (const [index, word] of fresh.entries()) {
    const { aboutMs } = expected[times.length] ?? { aboutMs: 0 };
    if (aboutMs > middleMs && index > 0) break;
    const nearMs = Math.max(startMs, Math.min(endMs, aboutMs));
    times.push(isSure(word) ? word : { startMs: nearMs, endMs: nearMs, score: 0 });
  }
  return Math.min(middleMs, endMs);
}

function isSure({ score }: WordTime): boolean {
  return score >= sureScore;
}

/** Returns the times so that they never decrease and lie within the recording. */
function inOrder(times: readonly WordTime[], durationMs: number): readonly WordTime[] {
  let lastMs = 0;
  const starts = times.map(({ startMs }) => {
    lastMs = Math.min(durationMs, Math.max(lastMs, Math.round(startMs)));
    return lastMs;
  });
  return times.map(({ endMs, score }, index) => {
    const startMs = starts[index] ?? 0;
    const mostMs = starts[index + 1] ?? durationMs;
    return { startMs, endMs: Math.max(startMs, Math.min(mostMs, Math.round(endMs))), score };
  });
}

/** Aligns a window. Retries after a lost engine, and waits for a busy engine. */
async function align(
  window: AlignedWindow,
  words: readonly string[],
  { aligner, languageCode, signal, retryMs = 250 }: AlignRecordingOptions,
): Promise<readonly WordTime[]> {
  for (let attempts = 1, waitMs = retryMs; ;) {
    try {
      return await aligner.align(window, words, { languageCode, signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ServiceError)) throw error;
      const isBusy = error.code === "resource_exhausted";
      if (!isBusy && (error.code !== "unavailable" || attempts === attemptsMax)) throw error;
      await sleep(waitMs, undefined, { signal });
      if (isBusy) continue;
      attempts++;
      waitMs *= 4;
    }
  }
}
