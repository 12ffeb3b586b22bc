import { secondsOf } from "../../../text/numbers.ts";
import type { Base } from "./base.ts";
import type { Moment } from "./moment.ts";

/** The times that a user has set for words of the base, by index. */
export type Retimings = ReadonlyMap<number, WordTimes>;

/** Durations in proto3 JSON. */
export interface WordTimes {
  readonly startTime: string;
  readonly endTime: string;
}

export const noRetimings: Retimings = new Map();

/** Returns the start of a word of the base. */
export function startOfWord(base: Base, retimings: Retimings, word: number): Moment {
  const set = retimings.get(word)?.startTime;
  if (set !== undefined) return { seconds: secondsOf(set), text: set };
  return { seconds: base.starts[word] ?? 0, text: base.words[word]?.startTime ?? "0s" };
}

/** Returns the end of a word of the base. */
export function endOfWord(base: Base, retimings: Retimings, word: number): Moment {
  const set = retimings.get(word)?.endTime;
  if (set !== undefined) return { seconds: secondsOf(set), text: set };
  return { seconds: base.ends[word] ?? 0, text: base.words[word]?.endTime ?? "0s" };
}

/** Returns the times that were set, without those that are the base's own again. */
export function withoutOwn(base: Base, retimings: Retimings): Retimings {
  const other = [...retimings].filter(([word, times]) => {
    const own = base.words[word];
    return own?.startTime !== times.startTime || own.endTime !== times.endTime;
  });
  return other.length === 0 ? noRetimings : new Map(other);
}

/** Whether the same times were set for the same words. */
export function areSameRetimings(one: Retimings, other: Retimings): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  return [...one].every(([word, { startTime, endTime }]) => {
    const times = other.get(word);
    return times?.startTime === startTime && times.endTime === endTime;
  });
}

/**
 * Moves times that were set to another version: `places` has the indexes there of the words of the
 * base, or -1. Times that the version has itself are not set any more.
 */
export function movedRetimings(version: Base, retimings: Retimings, places: Int32Array): Retimings {
  const moved = new Map<number, WordTimes>();
  for (const [word, times] of retimings) {
    const place = places[word] ?? -1;
    const own = version.words[place];
    if (!own) continue;
    const isSame = own.startTime === times.startTime && own.endTime === times.endTime;
    if (!isSame) moved.set(place, times);
  }
  return moved;
}
