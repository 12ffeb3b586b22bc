import type { ErrorComparison } from "./compare-errors.ts";
import type { Interval } from "./error-interval.ts";
import { significantP } from "./evaluation.ts";

/** Returns a rate as a percentage with one decimal, without the sign: 12.3. */
export function percent(rate: number): string {
  return (100 * rate).toFixed(1);
}

/** Returns "(95 %: 9.8 to 27.1)", or nothing for an unknown interval. */
export function intervalText(interval: Interval | undefined): string {
  if (!interval) return "";
  return `(95 %: ${percent(interval.low)} to ${percent(interval.high)})`;
}

/** Returns a comparison as a sentence. */
export function comparisonText({
  difference,
  interval,
  p,
  better,
  worse,
}: ErrorComparison): string {
  const sign = difference > 0 ? "+" : "";
  const figures = `${sign}${percent(difference)} points ${intervalText(interval)}`.trim();
  const counts = `better on ${better} recordings, worse on ${worse}`;
  if (p === undefined) return `${figures}; ${counts}; too few recordings for a test`;
  const verdict = p < significantP ? "significant" : "not significant";
  const shown = p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
  return `${figures}; ${counts}; ${shown}, ${verdict} (matched-pairs permutation test)`;
}

/** Returns a duration as 0:05 or 1:02:03. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Returns a pair of words as it is shown in the list of confusions. */
export function confusionText({
  said,
  recognized,
}: {
  readonly said: string;
  readonly recognized: string;
}): string {
  if (said === "") return `added ${recognized}`;
  return recognized === "" ? `missing ${said}` : `${said} as ${recognized}`;
}
