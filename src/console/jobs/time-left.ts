/** A progress that was seen, at a time in ms. */
export interface SeenProgress {
  readonly percent: number;
  readonly atMs: number;
}

/** The least progress from which the time left is computed. */
const percentsMin = 2;

/**
 * Returns how many seconds a job still takes at the speed between two progresses that were seen, or
 * undefined if they are too close to each other.
 */
export function secondsLeft(first: SeenProgress, last: SeenProgress): number | undefined {
  const percents = last.percent - first.percent;
  const ms = last.atMs - first.atMs;
  if (percents < percentsMin || ms <= 0 || last.percent >= 100) return undefined;
  return Math.ceil(((100 - last.percent) * ms) / percents / 1000);
}
