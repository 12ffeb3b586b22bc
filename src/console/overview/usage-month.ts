import type { UsageDayJson } from "../../gen/hlust/accounts/v1/accounts_pb.ts";

/** The use on one day (UTC). */
export interface DayUse {
  /** The day of the month, 1 to 31. */
  readonly day: number;
  /** Requests of programs, without those of pages of the console. */
  readonly requests: number;
  readonly seconds: number;
}

/** The use in a month so far (UTC). */
export interface MonthUse {
  readonly year: number;
  /** The month, from 0 to 11. */
  readonly month: number;
  /** Every day of the month, including future days. */
  readonly days: readonly DayUse[];
  readonly requests: number;
  readonly seconds: {
    readonly all: number;
    readonly live: number;
    readonly short: number;
    readonly jobs: number;
  };
}

/**
 * Returns the use in the month that contains `now`. `usageDays` has the form in which the service
 * lists days: newest first, without unused days.
 */
export function monthOf(usageDays: readonly UsageDayJson[], now: Date): MonthUse {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const prefix = now.toISOString().slice(0, "2026-11-".length);
  const used = usageDays.filter(({ date = "" }) => date.startsWith(prefix));
  const sum = (of: (day: UsageDayJson) => number): number =>
    used.reduce((total, day) => total + of(day), 0);
  const live = sum(({ liveSeconds = 0 }) => liveSeconds);
  const short = sum(({ shortSeconds = 0 }) => shortSeconds);
  const jobs = sum(({ jobSeconds = 0 }) => jobSeconds);
  const daysInMonth = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return {
    year,
    month,
    days: Array.from({ length: daysInMonth }, (_, at) => {
      const day = at + 1;
      const found = used.find(({ date }) => date === prefix + String(day).padStart(2, "0"));
      const { liveSeconds = 0, shortSeconds = 0, jobSeconds = 0 } = found ?? {};
      const seconds = liveSeconds + shortSeconds + jobSeconds;
      return { day, requests: found ? requestsOf(found) : 0, seconds };
    }),
    requests: sum(requestsOf),
    seconds: { all: live + short + jobs, live, short, jobs },
  };
}

function requestsOf({ requests = "0", consoleRequests = "0" }: UsageDayJson): number {
  return Number(requests) - Number(consoleRequests);
}
