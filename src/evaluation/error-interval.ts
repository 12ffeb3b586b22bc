import type { Edit } from "./align-words.ts";
import type { ErrorCounts } from "./score-recording.ts";
import { seededRandom } from "./seeded-random.ts";

/** A confidence interval of 95 %, of an error rate (1 is 100 %). */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** How often units are drawn again. */
export interface Resampling {
  readonly seed: number;
  readonly samples: number;
}

/** The interval leaves out this share of the samples on either side. */
const tailShare = 0.025;

/**
 * Returns the confidence interval of the error rate of all units, by the percentile bootstrap: as
 * many units as there are are drawn at random, again and again (Bisani and Ney, Bootstrap estimates
 * for confidence intervals in ASR performance evaluation, 2004). Units are recordings, whose errors
 * depend on each other within one. Returns undefined for fewer than two units.
 */
export function errorInterval(
  units: readonly ErrorCounts[],
  { seed, samples }: Resampling,
): Interval | undefined {
  if (units.length < 2) return undefined;
  const random = seededRandom(seed);
  const rates = Float64Array.from({ length: samples }, () => {
    let [errors, length] = [0, 0];
    for (let count = 0; count < units.length; count += 1) {
      const unit = units[Math.floor(random() * units.length)];
      errors += unit?.errors ?? 0;
      length += unit?.length ?? 0;
    }
    return length === 0 ? 0 : errors / length;
  }).toSorted();
  return intervalOf(rates);
}

/** Returns the interval that holds 95 % of sorted values. */
export function intervalOf(sorted: Float64Array): Interval {
  const skipped = Math.floor(tailShare * sorted.length);
  return { low: sorted[skipped] ?? NaN, high: sorted[sorted.length - 1 - skipped] ?? NaN };
}

/**
 * Returns the reference words of one recording as units: each with its own error, and with the
 * insertions before it. Insertions at the end belong to the last word.
 */
export function wordUnits(edits: readonly Edit[]): ErrorCounts[] {
  const units: { length: number; errors: number }[] = [];
  let inserted = 0;
  for (const { kind } of edits) {
    if (kind === "insertion") {
      inserted += 1;
      continue;
    }
    units.push({ length: 1, errors: inserted + (kind === "same" ? 0 : 1) });
    inserted = 0;
  }
  const last = units.at(-1);
  if (last) last.errors += inserted;
  return units;
}
