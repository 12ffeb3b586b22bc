import type { SpokenWord } from "./spoken.ts";

/** How long something took, as users experienced it. */
export interface Delay {
  readonly medianMs: number;
  /** 95 % of the values were this long or shorter. */
  readonly mostMs: number;
}

/** The number of the latest words and sentences that count: a few minutes of speech. */
const valuesMax = 500;
/** How long the capture times of audio are stored. */
const captureTimesMsMax = 10 * 60_000;

/**
 * Measures, by the clock of this machine, how long it takes to show words after they are spoken. A
 * word's delay runs from the capture of its last sample, according to the time in its final result,
 * until the page shows the word in its final form. The delay of a sentence runs from its last
 * sample until the whole utterance is final. Words that were not visible, for example in a
 * background tab, are not counted.
 */
export class Delays {
  readonly #captures: { readonly endMs: number; readonly at: number }[] = [];
  /**
   * The words of the current utterance, each with the time since which it has been shown in this
   * form.
   */
  #shown: { readonly text: string; readonly at: number }[] = [];
  /** Words that have arrived but are not on the page yet. */
  #pending: { readonly words: readonly SpokenWord[]; readonly isFinal: boolean }[] = [];
  readonly #words: number[] = [];
  readonly #sentences: number[] = [];

  /** Records that the audio up to `endMs` of the recording was captured at `at`. */
  captured(endMs: number, at: number): void {
    this.#captures.push({ endMs, at });
    while ((this.#captures[0]?.at ?? at) < at - captureTimesMsMax) this.#captures.shift();
  }

  /** Records that words have arrived, which the page will show. */
  arrived(words: readonly SpokenWord[], isFinal: boolean): void {
    this.#pending.push({ words, isFinal });
  }

  /**
   * Records that the page has shown all words that have arrived since `at`; undefined if the page
   * is not visible. Returns whether the delays have changed.
   */
  allShown(at: number | undefined): boolean {
    const pending = this.#pending;
    this.#pending = [];
    if (at === undefined) return false;
    for (const { words, isFinal } of pending) this.shown(words, isFinal, at);
    return pending.some(({ isFinal }) => isFinal);
  }

  /** Records that the page has shown these words since `at`. */
  shown(words: readonly SpokenWord[], isFinal: boolean, at: number): void {
    const shown = words.map(({ text }, index) => {
      const before = this.#shown[index];
      return before && bareOf(before.text) === bareOf(text) ? before : { text, at };
    });
    this.#shown = isFinal ? [] : shown;
    if (!isFinal) return;
    for (const [index, { endMs }] of words.entries()) {
      const spokenAt = this.#capturedAt(endMs);
      const since = shown[index]?.at;
      if (spokenAt === undefined || since === undefined) continue;
      // A word may be recognized before it ends.
      add(this.#words, Math.max(0, since - spokenAt));
      if (index === words.length - 1) add(this.#sentences, Math.max(0, at - spokenAt));
    }
  }

  get word(): Delay | undefined {
    return delayOf(this.#words);
  }

  get sentence(): Delay | undefined {
    return delayOf(this.#sentences);
  }

  #capturedAt(ms: number): number | undefined {
    const [first] = this.#captures;
    if (!first || ms < first.endMs) return undefined;
    // Word times are rounded, and may be slightly later than the last sample.
    const capture = this.#captures.find(({ endMs }) => endMs >= ms) ?? this.#captures.at(-1);
    return capture && capture.at - (capture.endMs - ms);
  }
}

/** Returns a word without case and punctuation, which final results add. */
function bareOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function add(values: number[], value: number): void {
  values.push(value);
  if (values.length > valuesMax) values.shift();
}

function delayOf(values: readonly number[]): Delay | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { medianMs: at(0.5), mostMs: at(0.95) };
}
