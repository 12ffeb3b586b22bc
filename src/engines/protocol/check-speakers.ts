import type { Violations } from "../../std/service-error.ts";

/** The maximum number of speakers that a call may name, and that are distinguished by default. */
export const speakersMaxMax = 20;

/** The numbers of speakers that a call names. */
export interface SpeakerCounts {
  readonly minSpeakerCount: number;
  /** 0 means the default. */
  readonly maxSpeakerCount: number;
}

/**
 * Checks the numbers of speakers in the configuration at `field` and adds every violation. Returns
 * the maximum number of speakers to distinguish.
 */
export function checkSpeakerCounts(
  { minSpeakerCount, maxSpeakerCount }: SpeakerCounts,
  field: string,
  violations: Pick<Violations, "add">,
): number {
  for (const [name, count] of Object.entries({ minSpeakerCount, maxSpeakerCount })) {
    if (count >= 0 && count <= speakersMaxMax) continue;
    violations.add(`${field}.${name}`, `must be 0 to ${speakersMaxMax}, not ${count}`);
  }
  const speakersMax = maxSpeakerCount === 0 ? speakersMaxMax : maxSpeakerCount;
  if (minSpeakerCount > speakersMax && minSpeakerCount <= speakersMaxMax) {
    const problem = `must be at most maxSpeakerCount, which is ${speakersMax}, not ${minSpeakerCount}`;
    violations.add(`${field}.minSpeakerCount`, problem);
  }
  return speakersMax;
}
