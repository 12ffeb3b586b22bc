import type { Figure } from "../report.ts";

/** A figure for what has to be at least so much: the note tells it. */
export function atLeast(name: string, value: number, min: number, note: string): Figure {
  const told = `${value.toFixed(2)} (at least ${min}): ${note}`;
  return { name: `${min} over ${name}`, ratio: min / value, ratioMax: 1, note: told };
}
