import { UsageError } from "../command.ts";

/** Exactly these arguments, in this order; UsageError names a missing or extra one. */
export function takePositionals(given: readonly string[], names: readonly string[]): string[] {
  const [extra] = given.slice(names.length);
  if (extra !== undefined) throw new UsageError(`unexpected ${JSON.stringify(extra)}`);
  return names.map((name, at) => {
    const value = given[at];
    if (value === undefined || value === "") throw new UsageError(`${name} is missing`);
    return value;
  });
}
