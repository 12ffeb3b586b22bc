import { UsageError } from "../command.ts";

/**
 * Returns the only argument of a command. Throws UsageError if the argument is missing or there is
 * another one.
 */
export function oneName(args: readonly string[], what: string): string {
  const [name, ...more] = args;
  const [extra] = more;
  const option = args.find((each) => each.startsWith("-"));
  if (option !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(option)}`);
  if (name === undefined || name === "") throw new UsageError(`${what} is missing`);
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
  return name;
}

/** Removes a switch from the arguments, and returns the rest and whether the switch was given. */
export function takeSwitch(
  args: readonly string[],
  name: string,
): { readonly rest: readonly string[]; readonly isOn: boolean } {
  const rest = args.filter((each) => each !== name);
  return { rest, isOn: rest.length < args.length };
}

export function noPositionals([extra]: readonly string[]): void {
  if (extra !== undefined) throw new UsageError(`unexpected argument ${JSON.stringify(extra)}`);
}
