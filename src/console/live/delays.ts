import type { SpokenWord } from "./spoken.ts";

/** How long something took, as people felt it. */
export interface Delay {
  readonly medianMs: number;
  /** 95 of 100 were as fast or faster. */
  readonly mostMs: number;
}

/** Figures are of so many words and sentences: the last few minutes. */
const valuesMax = 500;
/** How long it is remembered when sound was captured. */
const marksMsMax = 10 * 60_000;

/**
 * How long words took from being said to being seen, by the clock of this machine: from the capture
 * of the last sample of a word, as its final result has it, until the word stood on the page as it
 * finally stands; and the same of the last word of an utterance until all of it was final. What was
 * not seen, as in the background, counts for nothing.
 */
export class Delays {
  readonly #marks: { readonly endMs: number; readonly at: number }[] = [];
  /**
   * The words of the utterance that is being said: what they were, and since when they have been
   * so.
   */
  #seen: { readonly text: string; readonly at: number }[] = [];
  readonly #words: number[] = [];
  readonly #sentences: number[] = [];

  /** Sound up to `endMs` of the recording was captured at a time. */
  captured(endMs: number, at: number): void {
    this.#marks.push({ endMs, at });
    while ((this.#marks[0]?.at ?? at) < at - marksMsMax) this.#marks.shift();
  }

  /** Words are on the page since a time. */
  shown(words: readonly SpokenWord[], isFinal: boolean, at: number): void {
    const seen = words.map(({ text }, index) => {
      const before = this.#seen[index];
      return before && bareOf(before.text) === bareOf(text) ? before : { text, at };
    });
    this.#seen = isFinal ? [] : seen;
    if (!isFinal) return;
    for (const [index, { endMs }] of words.entries()) {
      const saidAt = this.#capturedAt(endMs);
      const since = seen[index]?.at;
      if (saidAt === undefined || since === undefined) continue;
      // A word may be guessed before it is out.
      add(this.#words, Math.max(0, since - saidAt));
      if (index === words.length - 1) add(this.#sentences, Math.max(0, at - saidAt));
    }
  }

  get word(): Delay | undefined {
    return delayOf(this.#words);
  }

  get sentence(): Delay | undefined {
    return delayOf(this.#sentences);
  }

  #capturedAt(ms: number): number | undefined {
    const [first] = this.#marks;
    if (!first || ms < first.endMs) return undefined;
    // Times of words are rounded, and may be past the last sample by a little.
    const mark = this.#marks.find(({ endMs }) => endMs >= ms) ?? this.#marks.at(-1);
    return mark && mark.at - (mark.endMs - ms);
  }
}

/** Without case and punctuation, which a final adds. */
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
