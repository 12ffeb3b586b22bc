import {
  merged,
  readNumber,
  type NumberGrammar,
  type NumberWord,
  type ReadNumber,
} from "./number-words.ts";
import type { Token } from "./token.ts";

const units = "zero one two three four five six seven eight nine".split(" ");
const teens =
  "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const scales: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9 };
const ordinalUnits = "first second third fourth fifth sixth seventh eighth ninth".split(" ");
const irregularTeens: Readonly<Record<string, string>> = { twelve: "twelfth" };

const words = new Map<string, NumberWord>();
function add(kind: NumberWord["kind"], value: number, cardinal: string, ordinal?: string): void {
  words.set(cardinal, { kind, value, isOrdinal: false });
  if (ordinal !== undefined) words.set(ordinal, { kind, value, isOrdinal: true });
}
for (const [value, word] of units.entries()) add("unit", value, word, ordinalUnits[value - 1]);
for (const [at, word] of teens.entries()) {
  add("teen", 10 + at, word, irregularTeens[word] ?? `${word}th`);
}
for (const [at, word] of tens.entries()) {
  add("ten", 20 + 10 * at, word, word.replace(/y$/, "ieth"));
}
add("hundred", 100, "hundred", "hundredth");
for (const [word, value] of Object.entries(scales)) add("scale", value, word, `${word}th`);

const grammar: NumberGrammar = {
  wordOf: (text) => words.get(text),
  joiner: "and",
  joinsTens: false,
  hasBareScales: false,
  continuesOrdinals: false,
};

/**
 * Writes the number words of a text as digits: 205 for "two hundred and five", 1984 for "nineteen
 * eighty four", 3.5 for "three point five", 21st for "twenty first". "per cent" becomes "percent".
 */
export function englishNumbers(tokens: readonly Token[]): Token[] {
  const written: Token[] = [];
  for (let at = 0; at < tokens.length;) {
    const { text, length } = englishNumber(tokens, at);
    written.push(merged(tokens, { at, length, text }));
    at += length;
  }
  return written;
}

function englishNumber(
  tokens: readonly Token[],
  at: number,
): { readonly text: string; readonly length: number } {
  const textAt = (index: number): string => tokens[index]?.text ?? "";
  const text = textAt(at);
  if (text === "per" && textAt(at + 1) === "cent") return { text: "percent", length: 2 };
  const scale = scales[textAt(at + 1)];
  // 2 million, 2.5 million
  if (/^\d+(\.\d+)?$/.test(text) && scale !== undefined) {
    return { text: digitsOf(Number(text) * scale), length: 2 };
  }
  const isA = text === "a" && (textAt(at + 1) === "hundred" || scale !== undefined);
  const one: Token = { text: "one", from: 0, to: 0 };
  const number = readNumber(
    isA ? [one, ...tokens.slice(at + 1, at + 12)] : tokens,
    isA ? 0 : at,
    grammar,
  );
  if (!number) return { text, length: 1 };
  if (number.isOrdinal) return { text: ordinal(number.value), length: number.length };
  return withDecimals(tokens, at, joinedNumber(tokens, at, number));
}

/**
 * Joins what is said in parts: years and times (nineteen eighty four, nine thirty, nineteen oh
 * four), and runs of single digits (five five five).
 */
function joinedNumber(
  tokens: readonly Token[],
  at: number,
  { value, length, isLarge }: ReadNumber,
): { text: string; length: number } {
  const alone = { text: digitsOf(value), length };
  if (isLarge) return alone;
  const next = readNumber(tokens, at + length, grammar);
  if (value > 0 && next && !next.isLarge && !next.isOrdinal && next.value >= 10) {
    return { text: `${value}${next.value}`, length: length + next.length };
  }
  const unitAt = (index: number): string | undefined => {
    const text = tokens[index]?.text ?? "";
    const word = text === "oh" ? { kind: "unit", value: 0, isOrdinal: false } : words.get(text);
    return word?.kind === "unit" && !word.isOrdinal ? String(word.value) : undefined;
  };
  const isZeroNext = value >= 10 && ["oh", "zero"].includes(tokens[at + length]?.text ?? "");
  if (isZeroNext) {
    const unit = unitAt(at + length + 1);
    return unit === undefined ? alone : { text: `${value}0${unit}`, length: length + 2 };
  }
  if (value >= 10) return alone;
  let [text, end] = [String(value), at + length];
  for (let unit = unitAt(end); unit !== undefined; unit = unitAt(end)) {
    text += unit;
    end += 1;
  }
  return { text, length: end - at };
}

/** Adds the digits after "point". */
function withDecimals(
  tokens: readonly Token[],
  at: number,
  number: { readonly text: string; readonly length: number },
): { text: string; length: number } {
  let end = at + number.length;
  if (tokens[end]?.text !== "point") return number;
  let decimals = "";
  for (;;) {
    const word = words.get(tokens[end + 1 + decimals.length]?.text ?? "");
    if (word?.kind !== "unit" || word.isOrdinal) break;
    decimals += String(word.value);
  }
  if (decimals === "") return number;
  end += 1 + decimals.length;
  return { text: `${number.text}.${decimals}`, length: end - at };
}

function digitsOf(value: number): string {
  return value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 });
}

function ordinal(value: number): string {
  const rest = value % 100;
  const isTeen = rest > 10 && rest < 14;
  const suffix = isTeen ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th");
  return `${digitsOf(value)}${suffix}`;
}
