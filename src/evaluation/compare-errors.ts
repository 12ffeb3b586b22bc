import { intervalOf, type Interval, type Resampling } from "./error-interval.ts";
import type { ErrorCounts } from "./score-recording.ts";
import { seededRandom } from "./seeded-random.ts";

/** The errors of two systems on one recording. */
export interface ErrorPair {
  readonly first: ErrorCounts;
  readonly second: ErrorCounts;
}

/** The comparison of two systems on the same recordings. */
export interface ErrorComparison {
  /** The error rate of the second system minus that of the first. */
  readonly difference: number;
  /** The interval of 95 % of the difference (paired bootstrap); undefined for one recording. */
  readonly interval: Interval | undefined;
  /**
   * The probability of a difference at least as large, in either direction, if both systems were
   * equally good (matched-pairs permutation test); undefined for one recording.
   */
  readonly p: number | undefined;
  /** The numbers of recordings with fewer errors by the second system, and with more. */
  readonly better: number;
  readonly worse: number;
}

/** With at most this number of pairs that differ, all assignments are tried: 4096. */
const exactPairsMax = 12;

/**
 * Compares two systems that recognized the same recordings. The recordings are the pairs. The
 * interval is that of the paired bootstrap (Bisani and Ney, 2004). The test exchanges the results
 * of the systems in every subset of the recordings, or in random subsets if there are many
 * recordings (Fisher's permutation test for matched pairs; Gillick and Cox, Some statistical issues
 * in the comparison of speech recognition algorithms, 1989, describe the pairs).
 */
export function compareErrors(
  pairs: readonly ErrorPair[],
  resampling: Resampling,
): ErrorComparison {
  const differences = pairs.map(({ first, second }) => second.errors - first.errors);
  const length = pairs.reduce((sum, { first }) => sum + first.length, 0);
  const total = differences.reduce((sum, each) => sum + each, 0);
  const isPaired = pairs.length >= 2;
  return {
    difference: length === 0 ? 0 : total / length,
    interval: isPaired ? pairedInterval(pairs, resampling) : undefined,
    p: isPaired ? permutationTest(differences, resampling) : undefined,
    better: differences.filter((each) => each < 0).length,
    worse: differences.filter((each) => each > 0).length,
  };
}

function pairedInterval(pairs: readonly ErrorPair[], { seed, samples }: Resampling): Interval {
  const random = seededRandom(seed);
  const differences = Float64Array.from({ length: samples }, () => {
    let [difference, length] = [0, 0];
    for (let count = 0; count < pairs.length; count += 1) {
      const pair = pairs[Math.floor(random() * pairs.length)];
      difference += (pair?.second.errors ?? 0) - (pair?.first.errors ?? 0);
      length += pair?.first.length ?? 0;
    }
    return length === 0 ? 0 : difference / length;
  }).toSorted();
  return intervalOf(differences);
}

/** Returns the two-sided p-value. Recordings without a difference do not matter. */
function permutationTest(differences: readonly number[], { seed, samples }: Resampling): number {
  const given = differences.filter((each) => each !== 0);
  const observed = Math.abs(given.reduce((sum, each) => sum + each, 0));
  if (given.length <= exactPairsMax) {
    const all = 2 ** given.length;
    let extreme = 0;
    for (let signs = 0; signs < all; signs += 1) {
      const sum = given.reduce((sum, each, at) => sum + ((signs >> at) & 1 ? each : -each), 0);
      if (Math.abs(sum) >= observed) extreme += 1;
    }
    return extreme / all;
  }
  const random = seededRandom(seed + 1);
  let extreme = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    let sum = 0;
    for (const each of given) sum += random() < 0.5 ? each : -each;
    if (Math.abs(sum) >= observed) extreme += 1;
  }
  // The observed assignment is one of the possible ones, so the result is never 0.
  return (extreme + 1) / (samples + 1);
}
