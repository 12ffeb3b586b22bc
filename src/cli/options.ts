import { parseArgs } from "node:util";
import { UsageError } from "./command.ts";
import { nearestNames } from "./nearest-names.ts";

/**
 * An option of a command. An option with a hint has a value; an option without one is a switch.
 */
export interface Option {
  readonly hint?: string;
  readonly meaning: string;
  /** The default value, which the help shows. */
  readonly fallback?: string;
}

/** The options by name, without the dashes. */
export type OptionTable = Readonly<Record<string, Option>>;

/**
 * The arguments of a command, parsed according to its table. Throws UsageError, which names the
 * argument.
 */
export class Arguments<Table extends OptionTable> {
  readonly positionals: readonly string[];
  readonly #table: Table;
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(table: Table, args: readonly string[]) {
    this.#table = table;
    const entries = Object.entries<Option>(table).map(
      ([name, { hint }]) => [name, { type: hint === undefined ? "boolean" : "string" }] as const,
    );
    try {
      const { values, positionals } = parseArgs({
        args: [...args],
        options: Object.fromEntries(entries),
        allowPositionals: true,
      });
      this.#values = values;
      this.positionals = positionals;
    } catch (error) {
      throw new UsageError(problemOf(error, Object.keys(table)));
    }
  }

  /** Returns whether a switch was given. */
  has(name: keyof Table & string): boolean {
    return this.#values[name] === true;
  }

  /** Returns the given value, or the fallback. */
  text(name: keyof Table & string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : this.#table[name]?.fallback;
  }

  /** Returns the value of an option, which must be one of `known`. */
  oneOf<T extends string>(name: keyof Table & string, known: readonly T[]): T {
    const text = this.text(name) ?? "";
    const found = known.find((each) => each === text);
    if (found !== undefined) return found;
    throw new UsageError(`--${name} must be ${known.join(" or ")}, not ${JSON.stringify(text)}`);
  }

  /** Returns the value of an option, which must be a number within the inclusive bounds. */
  number(
    name: keyof Table & string,
    bounds: { readonly min: number; readonly max: number; readonly whole?: boolean },
  ): number {
    const text = this.text(name) ?? "";
    const value = Number(text);
    const { min, max, whole = false } = bounds;
    const isNumber = /^\d+(\.\d+)?$/.test(text) && (!whole || Number.isInteger(value));
    if (isNumber && value >= min && value <= max) return value;
    const needed = `a ${whole ? "whole " : ""}number from ${min} to ${max}`;
    throw new UsageError(`--${name} must be ${needed}, not ${JSON.stringify(text)}`);
  }
}

/** Returns what is wrong with the arguments, by the error of parseArgs(). */
function problemOf(error: unknown, names: readonly string[]): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const [, option = ""] = /'(-[^' ]*)/.exec(message) ?? [];
  switch (code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION": {
      const dashed = names.map((name) => `--${name}`);
      return `unknown option ${option}${nearestNames(option, dashed)}`;
    }
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return `${option} ${message.includes("does not take") ? "takes no value" : "needs a value"}`;
    default:
      return message;
  }
}

/** Returns the help for the options, with one line per option. */
export function describeOptions(table: OptionTable): string {
  const rows = Object.entries(table).map(([name, { hint, meaning, fallback }]) => {
    const left = hint === undefined ? `--${name}` : `--${name} ${hint}`;
    return [left, `${meaning}${fallback ? ` (${fallback})` : ""}`] as const;
  });
  const width = Math.max(20, ...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join("");
}
