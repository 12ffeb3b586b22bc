import type { Cue } from "./cue.ts";
import { readingMs, subtitleRules } from "./subtitle-rules.ts";

/** A cue whose end is not yet known. */
export interface SpokenCue extends Omit<Cue, "endMs"> {
  /** The time at which the last word ends. */
  readonly spokenEndMs: number;
}

/**
 * Sets the times of cues, ordered by start. A cue is shown while its words are spoken. If reading
 * takes longer, the cue is shown into the following pause, up to `limitMs`, but never beyond the
 * start of the next cue. If speakers talk at the same time, cues are shorter and later than the
 * speech.
 */
export function timeCues(spoken: readonly SpokenCue[], limitMs: number): Cue[] {
  const cues = spoken.toSorted((one, other) => one.startMs - other.startMs);
  const timed: Cue[] = [];
  let freeMs = 0;
  let leastMs = 0;
  let crowdEnd = 0;
  for (const [index, cue] of cues.entries()) {
    if (index === crowdEnd) {
      crowdEnd = endOfCrowd(cues, index);
      leastMs = leastMsOf(cues, index, crowdEnd, limitMs);
    }
    const { spokenEndMs, ...rest } = cue;
    const startMs = Math.max(cue.startMs, freeMs);
    const wantedMs = Math.max(spokenEndMs, startMs + readingMs(cue.chars));
    const nextMs = cues[index + 1]?.startMs ?? Math.max(limitMs, spokenEndMs);
    const endMs = Math.min(wantedMs, nextMs, startMs + subtitleRules.msMax);
    freeMs = Math.max(endMs, startMs + leastMs);
    timed.push({ ...rest, startMs, endMs: freeMs });
  }
  return timed;
}

/**
 * Returns the end of a crowd: a run of cues that begin within a second of each other while earlier
 * words are still being spoken.
 */
function endOfCrowd(cues: readonly SpokenCue[], first: number): number {
  let end = first + 1;
  let spokenEndMs = cues[first]?.spokenEndMs ?? 0;
  for (; end < cues.length; end += 1) {
    const [before, cue] = [cues[end - 1], cues[end]];
    if (!before || !cue) break;
    const isAtOnce = cue.startMs === before.startMs || cue.startMs < spokenEndMs;
    if (!isAtOnce || cue.startMs - before.startMs >= subtitleRules.msMin) break;
    spokenEndMs = Math.max(spokenEndMs, cue.spokenEndMs);
  }
  return end;
}

/**
 * Returns the minimum time of each cue in a crowd: its share of the available time, at least 1 ms.
 */
function leastMsOf(
  cues: readonly SpokenCue[],
  first: number,
  end: number,
  limitMs: number,
): number {
  if (end - first === 1) return 1;
  const crowd = cues.slice(first, end);
  const spokenEndMs = crowd.reduce((endMs, cue) => Math.max(endMs, cue.spokenEndMs), 0);
  const endMs = cues[end]?.startMs ?? Math.max(limitMs, spokenEndMs);
  const shareMs = (endMs - (crowd[0]?.startMs ?? 0)) / crowd.length;
  return Math.max(1, Math.min(subtitleRules.msMin, Math.floor(shareMs)));
}
