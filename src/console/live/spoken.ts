/** A word with its times, in ms from the start of the recording. */
export interface SpokenWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1; absent if the engine computes none. */
  readonly confidence?: number;
  /** The spoken words that the word stands for; absent if it is written as it was spoken. */
  readonly spoken?: string;
  /** Whether the times are estimated. */
  readonly estimatedTimes?: true;
}

/** The words between two silences. */
export interface Utterance {
  /** The id stays the same while the words change. */
  readonly id: number;
  readonly words: readonly SpokenWord[];
}

/** Everything that has been recognized in a recording. Immutable. */
export interface Spoken {
  /**
   * The final results. Earlier paragraphs stay the same objects while more words are added, so they
   * are not rendered again.
   */
  readonly paragraphs: readonly (readonly Utterance[])[];
  /** The words that may still change. */
  readonly interim: readonly SpokenWord[];
}

export const nothingSpoken: Spoken = { paragraphs: [], interim: [] };

/**
 * A paragraph ends at a pause of `paragraphPauseMs` once it has the minimum number of words, or
 * without a pause when it has the maximum number.
 */
const paragraphWordsMin = 60;
const paragraphPauseMs = 1500;
const paragraphWordsMax = 250;

export function withInterim(spoken: Spoken, interim: readonly SpokenWord[]): Spoken {
  return { ...spoken, interim };
}

/**
 * Adds words that will not change any more. Their times are moved after those of earlier words,
 * because the results of two streams may overlap.
 */
export function withFinal({ paragraphs }: Spoken, words: readonly SpokenWord[]): Spoken {
  if (words.length === 0) return { paragraphs, interim: [] };
  const paragraph = paragraphs.at(-1) ?? [];
  const last = paragraph.at(-1);
  let at = last?.words.at(-1)?.endMs ?? 0;
  const pauseMs = (words[0]?.startMs ?? 0) - at;
  const inOrder: SpokenWord[] = [];
  for (const word of words) {
    const start = Math.max(at, word.startMs);
    at = Math.max(start, word.endMs);
    inOrder.push({ ...word, startMs: start, endMs: at });
  }
  const utterance = { id: (last?.id ?? 0) + 1, words: inOrder };
  const isLast = paragraph.length > 0 && !isWhole(paragraph, pauseMs);
  return {
    paragraphs: isLast
      ? [...paragraphs.slice(0, -1), [...paragraph, utterance]]
      : [...paragraphs, [utterance]],
    interim: [],
  };
}

function isWhole(paragraph: readonly Utterance[], pauseMs: number): boolean {
  const count = paragraph.reduce((sum, { words }) => sum + words.length, 0);
  if (count >= paragraphWordsMax) return true;
  return count >= paragraphWordsMin && pauseMs >= paragraphPauseMs;
}

/** Removes the last final result, whose audio is recognized again. */
export function withoutLast({ paragraphs, interim }: Spoken): Spoken {
  const rest = paragraphs.at(-1)?.slice(0, -1) ?? [];
  const before = paragraphs.slice(0, -1);
  return { paragraphs: rest.length > 0 ? [...before, rest] : before, interim };
}

/** Treats the interim words as final. */
export function finalized(spoken: Spoken): Spoken {
  return withFinal(spoken, spoken.interim);
}

export function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ text }) => text).join(" ");
}

/**
 * Returns the words of a text that has no word times. The time is divided among the words in
 * proportion to their length.
 */
export function sharedTimes(text: string, startMs: number, endMs: number): SpokenWord[] {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const msOfLetters = (count: number): number =>
    Math.round(startMs + ((endMs - startMs) * count) / letters);
  let before = 0;
  return words.map((word) => {
    const start = msOfLetters(before);
    before += word.length;
    return { text: word, startMs: start, endMs: msOfLetters(before), estimatedTimes: true };
  });
}
