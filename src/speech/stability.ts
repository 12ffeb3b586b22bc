import type { WrittenRecognition } from "./result-writer.ts";

/**
 * Measures the stability of interim results: the share of a result's written words, from 0 to 1,
 * before the first word that differs from the previous result. The stability is 0 for the first
 * result of an utterance and for final results. Google's clients read 0 as "unknown".
 */
export class Stability {
  #before: readonly string[] = [];

  next({ isFinal, alternatives: [best] }: WrittenRecognition): number {
    const words = isFinal ? [] : (best?.text.split(" ") ?? []);
    const changed = words.findIndex((word, at) => word !== this.#before[at]);
    this.#before = words;
    if (words.length === 0) return 0;
    return (changed < 0 ? words.length : changed) / words.length;
  }
}
