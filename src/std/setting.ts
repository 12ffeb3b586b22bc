import { parseNetworks } from "./networks.ts";

/** The error for an invalid setting, with which the service does not start. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A setting of the service, which is one environment variable. */
export interface Setting<T> {
  readonly name: string;
  readonly meaning: string;
  /** The default, as shown to users. */
  readonly fallback: string;
  /** A secret can also be in a file (NAME_FILE), and is not shown. */
  readonly secret?: boolean;
  /** Whether it has several values: separated by commas, or in a configuration file a list. */
  readonly isList?: boolean;
  /** Whether it can change while the service runs, at SIGHUP. */
  readonly isLive?: boolean;
  readonly parse: (text: string | undefined, name: string) => T;
}

/** Reads one setting from the environment. */
export type ReadSetting = <T>(setting: Setting<T>) => T;

/** Returns how a setting without a default is parsed: undefined unless it is set. */
export function ifSet<T>(
  parse: (text: string, name: string) => T,
): (text: string | undefined, name: string) => T | undefined {
  return (text, name) => (text === undefined ? undefined : parse(text, name));
}

/** Reads a whole number within bounds. This and the functions below throw ConfigError. */
export function whole(text: string, name: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(
      `${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`,
    );
  }
  return value;
}

/**
 * Reads a duration in seconds, such as 30, or with a unit: 90s, 5m, 2h. Returns milliseconds, at
 * most `msMax`.
 */
export function duration(text: string, name: string, msMax: number): number {
  const [, count, unit = "s"] = /^(\d{1,9})([smh])?$/.exec(text) ?? [];
  const ms =
    Number(count ?? "Infinity") * (unit === "h" ? unitMs.h : unit === "m" ? unitMs.m : unitMs.s);
  if (ms <= msMax) return ms;
  const longest = msMax % unitMs.h === 0 ? `${msMax / unitMs.h}h` : `${msMax / unitMs.m}m`;
  throw new ConfigError(
    `${name} must be a time from 0 to ${longest}, such as 30 (seconds), 90s or 5m, not ${JSON.stringify(text)}`,
  );
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

export function oneOf<T extends string>(text: string, name: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) {
    throw new ConfigError(
      `${name} must be one of ${values.join(", ")}, not ${JSON.stringify(text)}`,
    );
  }
  return found;
}

/** Reads an http or https URL and removes a trailing slash. */
export function httpUrl(text: string, name: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new ConfigError(
      `${name} must be a URL such as https://hlust.example, not ${JSON.stringify(text)}`,
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** Reads a URL that begins with postgres:// or postgresql://. */
export function postgresUrl(text: string, name: string): string {
  if (!/^postgres(ql)?:\/\//.test(text)) {
    throw new ConfigError(`${name} must begin with postgres://`);
  }
  return text;
}

/** Checks networks in CIDR notation and returns them unchanged. */
export function networks(entries: readonly string[], name: string): readonly string[] {
  try {
    parseNetworks(entries);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ConfigError(`${name}: ${error.message}`, { cause: error });
  }
  return entries;
}

/** Reads the address of a listener, a host with a port. `examples` are shown if it is none. */
export function listenAddress(
  text: string,
  name: string,
  examples: string,
): { readonly host: string; readonly port: number } {
  const [, inBrackets, plain, digits] =
    /^(?:\[([\da-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = inBrackets ?? plain;
  const port = Number(digits);
  if (host !== undefined && port <= 65_535) return { host, port };
  throw new ConfigError(
    `${name} must be an address with a port, such as ${examples}, not ${JSON.stringify(text)}`,
  );
}

/** Reads an origin as browsers send it (RFC 6454, section 6.2), or "*". */
export function pageOrigin(text: string, name: string): string {
  const url = URL.parse(text);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (text !== "*" && !isOrigin) {
    throw new ConfigError(
      `${name}: ${JSON.stringify(text)} is not an origin such as https://app.example, or *`,
    );
  }
  return url?.origin ?? text;
}

/** Checks an e-mail address or an http or https URL, and returns it unchanged. */
export function contactOf(text: string, name: string): string {
  const isAddress = /^[\p{L}\p{N}._+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u.test(text);
  const isPage = /^https?:\/\/[^\s<>"]+$/.test(text) && URL.canParse(text);
  if (text.length > 254 || !(isAddress || isPage)) {
    throw new ConfigError(
      `${name} must be an e-mail address such as access@hlust.example, or a URL such as https://hlust.example/access, of at most 254 characters, not ${JSON.stringify(text)}`,
    );
  }
  return text;
}

/** Reads the items of a comma-separated list. */
export function list(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/**
 * Returns a suggestion such as ": did you mean HLUST_PORT?" for a name that is close to the name of
 * a setting.
 */
export function nearest(name: string, known: ReadonlySet<string>): string {
  for (const candidate of known) {
    const [a, b] = [squash(name), squash(candidate)];
    if (a === b || a.startsWith(b) || b.startsWith(a)) return `: did you mean ${candidate}?`;
  }
  return "";
}

/** Returns a suggestion for any name: the known one with the fewest letters in another way. */
export function closest(name: string, known: Iterable<string>): string {
  const given = name.toUpperCase();
  const ranked = [...known]
    .map((candidate) => ({ candidate, count: slips(given, candidate.toUpperCase()) }))
    .toSorted((a, b) => a.count - b.count);
  const [best] = ranked;
  const isNear = best && best.count <= Math.max(2, best.candidate.length / 3);
  return isNear ? `: did you mean ${best.candidate}?` : nearest(name, new Set(known));
}

/**
 * Returns the setting that an unknown variable was probably meant to be. Either one letter is
 * wrong, missing, added or swapped (two such mistakes in a long name), or only case and underscores
 * differ. Returns undefined if the variable belongs to another program.
 */
export function misspelt(name: string, known: Iterable<string>): string | undefined {
  for (const candidate of known) {
    const slipsMax = candidate.length < longNameLength ? 1 : 2;
    if (squash(name) === squash(candidate)) return candidate;
    if (Math.abs(name.length - candidate.length) > slipsMax) continue;
    if (slips(name.toUpperCase(), candidate) <= slipsMax) return candidate;
  }
  return undefined;
}

/**
 * The minimum length of a name that can have two mistakes. In shorter names, DATABASE_SSL would
 * match DATABASE_URL, and HOST_PORT would match HLUST_PORT, although other programs use these
 * names.
 */
const longNameLength = 16;

/**
 * Returns the number of letters that were changed, omitted, added or swapped with the next letter
 * (optimal string alignment distance).
 */
function slips(a: string, b: string): number {
  let [before, last]: [number[], number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, j) => j),
  ];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isExchange) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

function squash(text: string): string {
  return text.replaceAll("_", "").toLowerCase();
}
