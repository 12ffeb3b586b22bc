import { UsageError } from "../command.ts";

/**
 * Returns exactly these arguments, in this order. Throws UsageError, which names the missing or
 * extra argument.
 */
export function takePositionals(given: readonly string[], names: readonly string[]): string[] {
  const [extra] = given.slice(names.length);
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
  return names.map((name, at) => {
    const value = given[at];
    if (value === undefined || value === "") throw new UsageError(`${name} is missing`);
    return value;
  });
}
