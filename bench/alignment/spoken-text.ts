import type { SpokenSegment } from "../../src/jobs/worker/align-recording.ts";
import { joined, noise, type TimedSpeech } from "../../test/fixtures/flite.ts";

/** A recording, its text as a person might have left it, and when each word was really said. */
export interface SpokenText {
  readonly samples: Int16Array;
  readonly segments: readonly SpokenSegment[];
  /** The true start of each word of each segment; undefined for a word that is not said. */
  readonly startsMs: readonly (readonly (number | undefined)[])[];
}

/** The share of words that are replaced by other words. */
const replacedShare = 0.1;
/** The shares of sentences in another segment, without sound, and without text. */
const movedShare = 0.1;
const missingShare = 0.02;
const addedShare = 0.02;
/** The maximum error of the times of a segment. */
const errorMsMax = 3000;
const pausesMs = [80, 250, 500, 900, 1500] as const;

/**
 * Joins sentences, in a random order with pauses, to a recording of this length, and makes a text
 * of it with errors: replaced words, sentences in another segment, missing and added sentences, and
 * times that are wrong by up to three seconds. The same seed makes the same text.
 */
export function makeSpokenText(
  sentences: readonly TimedSpeech[],
  { minutes, seed }: { readonly minutes: number; readonly seed: number },
): SpokenText {
  const random = randomNumbers(seed);
  const pick = <T>(from: readonly [T, ...T[]] | readonly T[]): T => {
    const value = from[Math.floor(random() * from.length)];
    if (value === undefined) throw new Error("there is nothing to choose from");
    return value;
  };
  const vocabulary = sentences.flatMap(({ words }) => words.map(({ text }) => text));
  const parts: Int16Array[] = [];
  const segments: { startMs: number; endMs: number; words: string[] }[] = [];
  const startsMs: (number | undefined)[][] = [];
  let at = 0;
  while (at < minutes * 60 * 16_000) {
    const { samples, words } = pick(sentences);
    const offMs = (2 * random() - 1) * errorMsMax;
    const startMs = at / 16;
    const added = random() < addedShare ? pick(sentences).words : [];
    const spoken = random() < missingShare ? [] : words;
    const texts = spoken.map(({ text }) => (random() < replacedShare ? pick(vocabulary) : text));
    const starts = spoken.map((word) => startMs + word.startMs);
    const last = segments.at(-1);
    const isMoved = last !== undefined && random() < movedShare;
    const into = isMoved ? last.words : [];
    const intoStarts = isMoved ? (startsMs.at(-1) ?? []) : [];
    into.push(...texts, ...added.map(({ text }) => text));
    intoStarts.push(...starts, ...added.map(() => undefined));
    if (!isMoved) {
      const endMs = startMs + samples.length / 16;
      segments.push({ startMs: Math.max(0, startMs + offMs), endMs: endMs + offMs, words: into });
      startsMs.push(intoStarts);
    }
    const pause = noise(pick(pausesMs), 4);
    parts.push(samples, pause);
    at += samples.length + pause.length;
  }
  return { samples: joined(...parts), segments, startsMs };
}

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
