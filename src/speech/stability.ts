import type { Recognition } from "../engines/protocol/recognizer.ts";

/**
 * Measures how little the results of a stream change: the share of the words of an interim result,
 * 0 to 1, that are at the same place in the one before it, from the first word up to the first that
 * is another one. 0, which Google's clients read as "not known", for the first of an utterance and
 * for finals.
 */
export class Stability {
  #before: readonly string[] = [];

  next({ isFinal, alternatives: [best] }: Recognition): number {
    const words = isFinal ? [] : (best?.text.split(" ") ?? []);
    const changed = words.findIndex((word, at) => word !== this.#before[at]);
    this.#before = words;
    if (words.length === 0) return 0;
    return (changed < 0 ? words.length : changed) / words.length;
  }
}
