import { join } from "node:path";
import type { ModelCard } from "../../models/model-card.ts";

type OptionValue = ModelCard["options"][string];

/** An option of a card: its allowed values, and where the library reads it. */
export interface OptionRow<Place extends string> {
  readonly place: Place;
  /** The option's name in the library, if it differs from the card's. */
  readonly name?: string;
  readonly need: string;
  /** Returns the value for the library; undefined if the value is wrong. */
  readonly read: (value: OptionValue) => string | number | undefined;
}

export type OptionRows<Place extends string> = Readonly<Record<string, OptionRow<Place>>>;

/**
 * Returns every missing or unknown file of a card. The kind of the card has the files of one of
 * these lists.
 */
export function fileProblems(card: ModelCard, lists: readonly (readonly string[])[]): string[] {
  const given = Object.keys(card.files);
  const problems = lists.map((wanted) => [
    ...wanted.filter((role) => !given.includes(role)).map((role) => `files.${role} is required`),
    ...given
      .filter((role) => !wanted.includes(role))
      .map((role) => `files.${role} is unknown: a model of this kind has ${wanted.join(", ")}`),
  ]);
  // Only the list that the card matches most closely counts.
  return problems.reduce((least, each) => (each.length < least.length ? each : least));
}

/** Returns every unknown or wrong option of a card. */
export function optionProblems(card: ModelCard, known: OptionRows<string>): string[] {
  return Object.entries(card.options).flatMap(([name, value]) => {
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!option)
      return `options.${name} is unknown; the options are ${Object.keys(known).join(", ")}`;
    if (option.read(value) !== undefined) return [];
    return `options.${name} must be ${option.need}, not ${JSON.stringify(value)}`;
  });
}

/** Returns the options of a card for this place, under the library's names. */
export function optionsIn<Place extends string>(
  place: Place,
  card: ModelCard,
  known: OptionRows<Place>,
): Record<string, string | number> {
  const placed = Object.entries(card.options).flatMap(([name, value]) => {
    const option = known[name];
    const read = option?.place === place ? option.read(value) : undefined;
    return option && read !== undefined ? [[option.name ?? name, read] as const] : [];
  });
  return Object.fromEntries(placed);
}

/** Returns the paths of a card's files, by role. */
export function filePaths(card: ModelCard, folder: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(card.files).map(([role, { path }]) => [role, join(folder, path)]),
  );
}

/** Accepts a whole number, bounds included. */
export function wholeNumber(min: number, max: number) {
  const { read } = someNumber(min, max);
  return {
    need: `a whole number from ${min} to ${max}`,
    read: (value: OptionValue) => (Number.isInteger(value) ? read(value) : undefined),
  };
}

/** Accepts a number, bounds included. */
export function someNumber(min: number, max: number) {
  return {
    need: `a number from ${min} to ${max}`,
    read: (value: OptionValue) =>
      typeof value === "number" && value >= min && value <= max ? value : undefined,
  };
}

/** Accepts one of a few words. */
export function oneOf(known: readonly string[]) {
  return {
    need: `one of ${known.join(", ")}`,
    read: (value: OptionValue) => known.find((each) => each === value),
  };
}

/** Accepts true or false, which the library reads as 1 or 0. */
export const yesOrNo = {
  need: "true or false",
  read: (value: OptionValue) => (typeof value === "boolean" ? Number(value) : undefined),
};
