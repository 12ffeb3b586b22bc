/** The choices of how long something is kept, in days; "0" is forever. */
export const keeps = ["0", "7", "30", "90", "365", "other"] as const;
export type Keep = (typeof keeps)[number];

/** The longest retention, in days (Account.mediaRetentionDays). */
const daysMax = 36_500;

/** How long something is kept, as the form has it. */
export interface Retention {
  readonly keep: Keep;
  /** The days that the user has written; they count if `keep` is "other". */
  readonly days: string;
}

/** Returns the form's value of a stored retention, in days. */
export function retentionOf(days: number): Retention {
  const known = keeps.find((keep) => keep === `${days}`);
  return known ? { keep: known, days: "" } : { keep: "other", days: `${days}` };
}

/** Returns the days, 0 for forever, or undefined if what was written is not a retention. */
export function daysOf({ keep, days }: Retention): number | undefined {
  if (keep !== "other") return Number(keep);
  const text = days.trim();
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= daysMax ? value : undefined;
}

/** Whether a new retention deletes what the old one kept. Both are days, 0 for forever. */
export function isShorter(next: number, before: number): boolean {
  return next !== 0 && (before === 0 || next < before);
}
