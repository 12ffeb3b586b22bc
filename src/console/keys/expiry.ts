/** The choices for the expiry of a new key. */
export const expiries = ["30", "90", "year", "never", "date"] as const;
export type Expiry = (typeof expiries)[number];

const dayMs = 86_400_000;

/**
 * The time at which a key expires (RFC 3339). "missing" means that the chosen day is not a date, or
 * has passed.
 */
export type ExpireTime = { readonly at: string } | "never" | "missing";

/**
 * Returns the expireTime of a key that is created at `now`. `day` is the value of a date input
 * ("2027-03-01"); the key expires at the end of that day in the time zone of this machine.
 */
export function expireTimeOf(expiry: Expiry, day: string, now: Date): ExpireTime {
  if (expiry === "never") return "never";
  if (expiry === "date") {
    const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
    const end = new Date(Number(year), Number(month) - 1, Number(date), 23, 59, 59);
    return end.getTime() > now.getTime() ? { at: end.toISOString() } : "missing";
  }
  const end = new Date(now);
  if (expiry === "year") end.setFullYear(now.getFullYear() + 1);
  else end.setTime(now.getTime() + Number(expiry) * dayMs);
  return { at: end.toISOString() };
}

/** Returns today's date as the value of a date input. */
export function today(now: Date): string {
  const [month, date] = [now.getMonth() + 1, now.getDate()].map((value) =>
    `${value}`.padStart(2, "0"),
  );
  return `${now.getFullYear()}-${month}-${date}`;
}
