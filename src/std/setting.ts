/** A setting that cannot be used: the start stops with it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** What the service is told from outside by one variable of the environment. */
export interface Setting<T> {
  readonly name: string;
  readonly meaning: string;
  /** The default as shown to a reader. */
  readonly fallback: string;
  readonly secret?: boolean;
  readonly parse: (text: string | undefined, name: string) => T;
}

/** A whole number within both bounds. Throws ConfigError, as all of these. */
export function whole(text: string, name: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(
      `${name} is ${JSON.stringify(text)}: a whole number ${min} to ${max} is needed`,
    );
  }
  return value;
}

export function oneOf<T extends string>(text: string, name: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found === undefined) {
    throw new ConfigError(
      `${name} is ${JSON.stringify(text)}: one of ${values.join(", ")} is needed`,
    );
  }
  return found;
}

/** Without a slash at the end. */
export function httpUrl(text: string, name: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
    throw new ConfigError(
      `${name} is ${JSON.stringify(text)}: a URL such as https://hlust.example is needed`,
    );
  }
  return url.href.replace(/\/+$/, "");
}

/** What stands between commas. */
export function list(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/** ": did you mean HLUST_PORT?" for a name that differs in little. */
export function nearest(name: string, known: ReadonlySet<string>): string {
  for (const candidate of known) {
    const [a, b] = [squash(name), squash(candidate)];
    if (a === b || a.startsWith(b) || b.startsWith(a)) return `: did you mean ${candidate}?`;
  }
  return "";
}

function squash(text: string): string {
  return text.replaceAll("_", "").toLowerCase();
}
