import { expireTimeOf } from "./expiry.ts";

/** The choices for the end of the previous secret of a key: seconds from now, or a date. */
export const previousEnds = ["now", "3600", "86400", "604800", "date"] as const;
export type PreviousEnd = (typeof previousEnds)[number];

/** The longest time for which a previous secret may stay valid, in days (RotateApiKey). */
const previousDaysMax = 90;
const dayMs = 86_400_000;

/**
 * Returns the end of the previous secret (RFC 3339); undefined if it ends now. "missing" means that
 * the chosen day is not a date, has passed, or is too late. `day` is the value of a date input.
 */
export function previousEndOf(end: PreviousEnd, day: string, now: Date): string | undefined {
  if (end === "now") return undefined;
  if (end !== "date") return new Date(now.getTime() + Number(end) * 1000).toISOString();
  const chosen = expireTimeOf("date", day, now);
  const isDay = typeof chosen === "object";
  return isDay && Date.parse(chosen.at) <= latest(now) ? chosen.at : "missing";
}

/** Returns the last day that can be chosen, at its end. */
export function lastDay(now: Date): Date {
  return new Date(latest(now) - dayMs);
}

function latest(now: Date): number {
  return now.getTime() + previousDaysMax * dayMs;
}
