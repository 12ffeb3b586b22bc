/** A point in time: seconds, and the same as a duration in proto3 JSON. */
export interface Moment {
  readonly seconds: number;
  readonly text: string;
}

/**
 * Returns a moment in whole milliseconds between two others, which are returned themselves if it
 * would be outside them.
 */
export function momentWithin(seconds: number, earliest: Moment, latest: Moment): Moment {
  const ms = Math.round(seconds * 1000);
  if (ms / 1000 <= earliest.seconds) return earliest;
  if (ms / 1000 >= latest.seconds) return latest;
  return { seconds: ms / 1000, text: durationText(ms) };
}

/** Returns a moment in whole milliseconds. */
export function momentAt(seconds: number): Moment {
  const ms = Math.max(0, Math.round(seconds * 1000));
  return { seconds: ms / 1000, text: durationText(ms) };
}

/** Writes milliseconds as a duration in proto3 JSON: "2s", "2.500s". */
function durationText(ms: number): string {
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${(ms / 1000).toFixed(3)}s`;
}

export function earlier(one: Moment, other: Moment): Moment {
  return other.seconds < one.seconds ? other : one;
}

export function later(one: Moment, other: Moment): Moment {
  return other.seconds > one.seconds ? other : one;
}
