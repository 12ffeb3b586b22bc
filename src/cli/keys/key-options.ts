import { type Scope, scopes } from "../../auth/caller.ts";
import { UsageError } from "../command.ts";
import { nearestNames } from "../nearest-names.ts";

/** Reads comma-separated scopes, and returns them in the order of the API. */
export function readScopes(text: string): Scope[] {
  const names = text.split(",").map((name) => name.trim());
  for (const name of names) {
    if (scopes.some((scope) => scope === name)) continue;
    const near = nearestNames(name, scopes);
    const problem = `--scopes has ${JSON.stringify(name)}, which is not a scope`;
    throw new UsageError(near === "" ? `${problem}: use ${scopes.join(", ")}` : problem + near);
  }
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * Reads a day such as 2027-01-01, which means its start in UTC, or a time with a time zone (RFC
 * 3339). The result must be after `now`.
 */
export function readExpiry(text: string, now: number): Date {
  const [, day = "", time = "T00:00:00Z"] =
    /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? [];
  const expiresAt = new Date(`${day}${time}`);
  // Date interprets February 30 as a day in March, and toISOString() throws for an invalid date.
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  if (!isDay || Number.isNaN(expiresAt.getTime())) {
    throw new UsageError(
      `--expires must be a day (2027-01-01) or a time (2027-01-01T12:00:00Z), not ${JSON.stringify(text)}`,
    );
  }
  if (expiresAt.getTime() <= now) {
    throw new UsageError(`--expires must be in the future, not ${JSON.stringify(text)}`);
  }
  return expiresAt;
}
