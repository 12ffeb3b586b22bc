import type { WordTime } from "../protocol/alignment.ts";

/** A section of a window. */
export interface Section {
  readonly startMs: number;
  readonly endMs: number;
}

/** What an engine found in a window. */
export interface Found {
  /** For each word, its time and score; undefined if it was not found. */
  readonly words: readonly (WordTime | undefined)[];
  /** For each word, how long it takes to say it, in any unit. */
  readonly weights: readonly number[];
  /** The sections with sound that belongs to no word, in order. */
  readonly sounds: readonly Section[];
  readonly windowMs: number;
}

/** The maximum time of a word without sound of its own, for each unit of its weight. */
const quietMsMax = 60;

/**
 * Returns the times of all words. Words that were not found share the sound between their neighbors
 * that belongs to no word; without such sound, they follow the word before them.
 */
export function placeWords({ words, weights, sounds, windowMs }: Found): readonly WordTime[] {
  const within = (ms: number) => Math.max(0, Math.min(windowMs, ms));
  const placed: WordTime[] = [];
  let endMs = 0;
  for (let index = 0; index < words.length; index = placed.length) {
    const found = words[index];
    if (found) {
      const startMs = Math.max(placed.at(-1)?.startMs ?? 0, within(found.startMs));
      endLast(placed, startMs);
      endMs = Math.max(startMs, within(found.endMs));
      placed.push({ startMs, endMs, score: found.score });
      continue;
    }
    const next = words.findIndex((each, at) => at > index && each !== undefined);
    const until = next < 0 ? words.length : next;
    const lastMs = Math.max(placed.at(-1)?.startMs ?? 0, within(words[next]?.startMs ?? windowMs));
    const firstMs = Math.min(placed.at(-1)?.startMs ?? 0, lastMs);
    const gap = { startMs: firstMs, endMs: lastMs };
    const own = sounds.flatMap((sound) => overlapOf(sound, gap));
    const shares = weights.slice(index, until);
    const sum = shares.reduce((total, weight) => total + weight, 0);
    const quiet = { startMs: Math.min(endMs, lastMs), endMs: lastMs };
    const length = Math.min(quiet.endMs - quiet.startMs, quietMsMax * sum);
    const room = own.length > 0 ? own : [{ ...quiet, endMs: quiet.startMs + length }];
    const [startMs = 0] = room.map((section) => section.startMs);
    endLast(placed, startMs);
    placed.push(...shareOut(room, shares));
    endMs = placed.at(-1)?.endMs ?? endMs;
  }
  return placed.map((word) => ({
    ...word,
    startMs: Math.round(word.startMs),
    endMs: Math.round(word.endMs),
  }));
}

/** Ends the last word before the next one begins. */
function endLast(placed: WordTime[], startMs: number): void {
  const last = placed.at(-1);
  if (last && last.endMs > startMs) placed[placed.length - 1] = { ...last, endMs: startMs };
}

function overlapOf(one: Section, other: Section): readonly Section[] {
  const startMs = Math.max(one.startMs, other.startMs);
  const endMs = Math.min(one.endMs, other.endMs);
  return startMs < endMs ? [{ startMs, endMs }] : [];
}

/** Divides sections between words, in proportion to the weights of the words. */
function shareOut(sections: readonly Section[], weights: readonly number[]): readonly WordTime[] {
  const lengthMs = sections.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  return weights.map((weight) => {
    const from = all > 0 ? (before / all) * lengthMs : 0;
    before += weight;
    const to = all > 0 ? (before / all) * lengthMs : 0;
    return {
      startMs: timeAt(sections, from, "start"),
      endMs: timeAt(sections, to, "end"),
      score: 0,
    };
  });
}

/** Returns the time at which this length of the sections has passed. */
function timeAt(sections: readonly Section[], lengthMs: number, side: "start" | "end"): number {
  let left = lengthMs;
  for (const { startMs, endMs } of sections) {
    const length = endMs - startMs;
    // A word begins in the section after a pause, and ends in the section before it.
    if (left < length || (side === "end" && left <= length)) return startMs + left;
    left -= length;
  }
  return sections.at(-1)?.endMs ?? 0;
}
