import type { RecordingScore } from "./score-recording.ts";

/** A word that was recognized as another one, was missing or was added, and how often. */
export interface Confusion {
  /** Empty for an insertion. */
  readonly said: string;
  /** Empty for a deletion. */
  readonly recognized: string;
  readonly count: number;
}

/** Returns the most frequent errors on single words, at most `max` of them. */
export function countConfusions(
  scores: readonly Pick<RecordingScore, "said" | "recognized" | "edits">[],
  max: number,
): Confusion[] {
  const counts = new Map<string, { said: string; recognized: string; count: number }>();
  for (const { said, recognized, edits } of scores) {
    for (const edit of edits) {
      if (edit.kind === "same") continue;
      const pair = {
        said: "said" in edit ? (said[edit.said]?.text ?? "") : "",
        recognized: "recognized" in edit ? (recognized[edit.recognized]?.text ?? "") : "",
      };
      const key = `${pair.said}\n${pair.recognized}`;
      const known = counts.get(key);
      if (known) known.count += 1;
      else counts.set(key, { ...pair, count: 1 });
    }
  }
  return [...counts.values()]
    .toSorted(
      (a, b) => b.count - a.count || compare(a.said, b.said) || compare(a.recognized, b.recognized),
    )
    .slice(0, max);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
