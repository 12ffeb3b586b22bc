import type { EngineWord } from "./engine.ts";

/**
 * Returns the words of a text without word times: they share the time of their utterance in
 * proportion to their letters, and are marked.
 */
export function spreadWords(
  text: string,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): EngineWord[] {
  const words = text.trim().split(/\s+/);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const msOfLetters = (count: number): number =>
    Math.round(startMs + ((endMs - startMs) * count) / Math.max(1, letters));
  let before = 0;
  return words.map((word) => {
    const start = msOfLetters(before);
    before += word.length;
    return { text: word, startMs: start, endMs: msOfLetters(before), estimatedTimes: true };
  });
}
