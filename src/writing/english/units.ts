import { readPhrase, type Piece } from "../rule.ts";

/** Signs of metric units; other units stay words after digits (AP style). */
const signs = new Map<string, string>(
  (
    [
      ["km", "kilometer kilometers kilometre kilometres"],
      ["m", "meter meters metre metres"],
      ["cm", "centimeter centimeters"],
      ["mm", "millimeter millimeters"],
      ["kg", "kilogram kilograms kilo kilos"],
      ["g", "gram grams"],
      ["mg", "milligram milligrams"],
      ["ml", "milliliter milliliters"],
      ["KB", "kilobyte kilobytes"],
      ["MB", "megabyte megabytes"],
      ["GB", "gigabyte gigabytes"],
      ["TB", "terabyte terabytes"],
      ["Hz", "hertz"],
      ["kHz", "kilohertz"],
      ["MHz", "megahertz"],
      ["GHz", "gigahertz"],
      ["W", "watt watts"],
      ["kW", "kilowatt kilowatts"],
      ["MW", "megawatt megawatts"],
    ] satisfies [string, string][]
  ).flatMap(([sign, words]) => words.split(" ").map((word): [string, string] => [word, sign])),
);

const phrases = new Map<string, string>([
  ["miles per hour", "mph"],
  ["kilometers per hour", "km/h"],
  ["kilometers an hour", "km/h"],
  ["meters per second", "m/s"],
  ["degrees celsius", "°C"],
  ["degrees fahrenheit", "°F"],
  ["square meters", "m²"],
  ["square kilometers", "km²"],
  ["cubic meters", "m³"],
]);
const phraseStarts = new Set([...phrases.keys()].map((phrase) => phrase.split(" ", 1)[0]));

/** Units that stay words after digits. */
const wordUnits = new Set(
  (
    "mile miles feet foot inch inches yard yards pound pounds ounce ounces gallon gallons liter " +
    "liters quart quarts pint pints acre acres ton tons degree degrees cent cents knots volts amps " +
    "calories tablespoons teaspoons"
  ).split(" "),
);

/** Currency signs, which precede the number. */
export const currencySigns: ReadonlyMap<string, string> = new Map([
  ["dollar", "$"],
  ["dollars", "$"],
  ["euro", "€"],
  ["euros", "€"],
]);

/** Returns the number of words of "percent" or "per cent" at an index; 0 if it is not there. */
export function percentWords(words: readonly string[], at: number): number {
  if (words[at] === "percent") return 1;
  return words[at] === "per" && words[at + 1] === "cent" ? 2 : 0;
}

/** Returns the sign of the unit that begins at an index. */
export function readUnitSign(words: readonly string[], at: number): Piece | undefined {
  const word = words[at] ?? "";
  const phrase = phraseStarts.has(word) ? readPhrase(phrases, 3, words, at) : undefined;
  const text = signs.get(word);
  return phrase ?? (text === undefined ? undefined : { text, count: 1 });
}

/** Whether a unit that stays a word is at an index. */
export function isWordUnit(words: readonly string[], at: number): boolean {
  return wordUnits.has(words[at] ?? "");
}

/** Whether the number before an index is an amount: a unit, percent or money follows. */
export function followsAmount(words: readonly string[], at: number): boolean {
  const isUnit = readUnitSign(words, at) !== undefined || isWordUnit(words, at);
  return isUnit || percentWords(words, at) > 0 || currencySigns.has(words[at] ?? "");
}
