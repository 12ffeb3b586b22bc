import type { Cue } from "./cue.ts";
import { readingMs, subtitleRules } from "./subtitle-rules.ts";

/** A cue before it has an end. */
export interface SpokenCue extends Omit<Cue, "endMs"> {
  /** When its last word ends. */
  readonly spokenEndMs: number;
  readonly chars: number;
}

/**
 * Gives cues their times, in order of their start. A cue stands while its words are said; longer
 * where that is less than it takes to read, into the pause that follows and not past `limitMs`;
 * never past the next one. Where speakers talk at once, cues follow each other quicker, and later
 * than they are said.
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
    const { spokenEndMs, chars, ...rest } = cue;
    const startMs = Math.max(cue.startMs, freeMs);
    const wantedMs = Math.max(spokenEndMs, startMs + readingMs(chars));
    const nextMs = cues[index + 1]?.startMs ?? Math.max(limitMs, spokenEndMs);
    const endMs = Math.min(wantedMs, nextMs, startMs + subtitleRules.msMax);
    freeMs = Math.max(endMs, startMs + leastMs);
    timed.push({ ...rest, startMs, endMs: freeMs });
  }
  return timed;
}

/**
 * Where those cues end that begin within a second of each other while the words of one before are
 * still said.
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
 * How long each cue of a crowd stands at least: its share of the time there is, and a moment in any
 * case.
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
