import type { Figure } from "../report.ts";

/** Returns a figure that must be at least `min`. The note states its value and the limit. */
export function atLeast(name: string, value: number, min: number, note: string): Figure {
  const text = `${value.toFixed(2)} (at least ${min}): ${note}`;
  return { name: `${min} over ${name}`, ratio: min / value, ratioMax: 1, note: text };
}
