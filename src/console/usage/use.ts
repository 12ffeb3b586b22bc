import type {
  KeyUsageJson,
  MemberUsageJson,
  UsageDayJson,
} from "../../gen/hlust/accounts/v1/accounts_pb.ts";
import { csvCell, csvText } from "../parts/csv.ts";

/** What was used, by an account, a key or a member, in some time. */
export interface Use {
  /** Calls of programs. */
  readonly requests: number;
  /** Calls of pages of the console, which are not in `requests`. */
  readonly console: number;
  readonly liveSeconds: number;
  readonly shortSeconds: number;
  readonly jobSeconds: number;
}

export const noUse: Use = {
  requests: 0,
  console: 0,
  liveSeconds: 0,
  shortSeconds: 0,
  jobSeconds: 0,
};

/** Returns the use that the service reports, with the calls of the console apart. */
export function useOf(json: UsageDayJson | KeyUsageJson | MemberUsageJson): Use {
  const fromConsole = Number(json.consoleRequests ?? 0);
  return {
    requests: Number(json.requests ?? 0) - fromConsole,
    console: fromConsole,
    liveSeconds: json.liveSeconds ?? 0,
    shortSeconds: json.shortSeconds ?? 0,
    jobSeconds: json.jobSeconds ?? 0,
  };
}

export function sumOf(uses: readonly Use[]): Use {
  return uses.reduce((sum, use) => combine(sum, use, 1), noUse);
}

/** Returns what is left of a total, never less than nothing. */
export function restOf(total: Use, uses: readonly Use[]): Use {
  const rest = combine(total, sumOf(uses), -1);
  return {
    requests: Math.max(0, rest.requests),
    console: Math.max(0, rest.console),
    liveSeconds: Math.max(0, rest.liveSeconds),
    shortSeconds: Math.max(0, rest.shortSeconds),
    jobSeconds: Math.max(0, rest.jobSeconds),
  };
}

/** Whether nothing was used. */
export function isNone(use: Use): boolean {
  return use.requests + use.console + secondsIn(use) === 0;
}

export function secondsIn({ liveSeconds, shortSeconds, jobSeconds }: Use): number {
  return liveSeconds + shortSeconds + jobSeconds;
}

function combine(a: Use, b: Use, sign: 1 | -1): Use {
  return {
    requests: a.requests + sign * b.requests,
    console: a.console + sign * b.console,
    liveSeconds: a.liveSeconds + sign * b.liveSeconds,
    shortSeconds: a.shortSeconds + sign * b.shortSeconds,
    jobSeconds: a.jobSeconds + sign * b.jobSeconds,
  };
}

/** The use with what it belongs to: a day ("2026-11-28"), a month ("2026-11"), key or member. */
export interface NamedUse {
  readonly name: string;
  readonly use: Use;
}

/** Returns the use of each month, newest first. Days are "2026-11-28", in any order. */
export function monthsOf(days: readonly NamedUse[]): readonly NamedUse[] {
  const byMonth = Map.groupBy(days, ({ name }) => name.slice(0, "2026-11".length));
  return [...byMonth]
    .map(([name, ofMonth]) => ({ name, use: sumOf(ofMonth.map(({ use }) => use)) }))
    .toSorted((a, b) => (a.name < b.name ? 1 : -1));
}

/**
 * Returns a table as CSV, with the field names of the API. `first` names the first column.
 */
export function csvOf(first: string, rows: readonly NamedUse[]): string {
  const head = [
    first,
    "requests",
    "console_requests",
    "live_seconds",
    "short_seconds",
    "job_seconds",
  ];
  const lines = rows.map(({ name, use }) => [
    csvCell(name),
    use.requests,
    use.console,
    use.liveSeconds,
    use.shortSeconds,
    use.jobSeconds,
  ]);
  return csvText([head, ...lines]);
}
