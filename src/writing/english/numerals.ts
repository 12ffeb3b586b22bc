import { readCardinal, type NumeralWords } from "../cardinals.ts";

const units = "one two three four five six seven eight nine".split(" ");
const teens =
  "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

/** The English words for numbers. */
export const englishNumerals: NumeralWords = {
  zero: new Set(["zero", "oh"]),
  units: new Map(units.map((word, index) => [word, index + 1])),
  teens: new Map([
    ...teens.map((word, index) => [word, index + 10] as const),
    // Compounds that some models write as one word.
    ...tens.flatMap((ten, index) =>
      units.map((unit, at) => [`${ten}-${unit}`, (index + 2) * 10 + at + 1] as const),
    ),
  ]),
  tens: new Map(tens.map((word, index) => [word, (index + 2) * 10])),
  hundreds: new Set(["hundred"]),
  scales: new Map([
    ["thousand", 1e3],
    ["million", 1e6],
    ["billion", 1e9],
    ["trillion", 1e12],
  ]),
  compounds: new Map(),
  impliesOne: new Set(["hundred", "thousand", "million", "billion", "trillion"]),
  and: "and",
  tensTakeAnd: false,
  decimal: "point",
};

/** Thousands are parted by a comma, decimals by a point: 1,234.5. */
export const englishSigns = { thousands: ",", decimal: "." };

const smallOrdinals = new Map(
  (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth " +
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
  )
    .split(" ")
    .map((word, index) => [word, index + 1]),
);

const largeOrdinals = new Map([
  ...tens.map((word, index) => [word.replace(/y$/, "ieth"), (index + 2) * 10] as const),
  ["hundredth", 100] as const,
  ["thousandth", 1000] as const,
]);

interface Ordinal {
  readonly value: number;
  readonly count: number;
}

/** Reads an ordinal such as "twenty first" or "one hundred and fifth". */
export function readEnglishOrdinal(words: readonly string[], at: number): Ordinal | undefined {
  return readBelowHundredth(words, at) ?? readLargeOrdinal(words, at);
}

/** Reads "one hundred and fifth" and, after "the", "one hundredth": elsewhere it is a fraction. */
function readLargeOrdinal(words: readonly string[], at: number): Ordinal | undefined {
  const units = englishNumerals.units.get(words[at] ?? "");
  if (units !== undefined && words[at + 1] === "hundredth" && words[at - 1] === "the") {
    return { value: units * 100, count: 2 };
  }
  const hundreds = readCardinal(words, at, englishNumerals);
  if (!hundreds || hundreds.implied || hundreds.count < 2 || hundreds.value % 100 > 0) {
    return undefined;
  }
  const skip = words[at + hundreds.count] === "and" ? 1 : 0;
  const rest = readBelowHundredth(words, at + hundreds.count + skip);
  if (!rest || rest.value > 99) return undefined;
  return { value: hundreds.value + rest.value, count: hundreds.count + skip + rest.count };
}

function readBelowHundredth(words: readonly string[], at: number): Ordinal | undefined {
  const word = words[at] ?? "";
  const single = smallOrdinals.get(word) ?? largeOrdinals.get(word) ?? hyphenated(word);
  if (single !== undefined) return { value: single, count: 1 };
  const ten = englishNumerals.tens.get(word);
  const unit = ten === undefined ? undefined : smallOrdinals.get(words[at + 1] ?? "");
  if (ten === undefined || unit === undefined || unit > 9) return undefined;
  return { value: ten + unit, count: 2 };
}

function hyphenated(word: string): number | undefined {
  const [ten = "", unit = ""] = word.split("-");
  const value = englishNumerals.tens.get(ten);
  const rest = smallOrdinals.get(unit);
  return value !== undefined && rest !== undefined && rest < 10 ? value + rest : undefined;
}

/** Returns "21st" for 21. */
export function ordinalText(value: number): string {
  const isTeen = value % 100 >= 11 && value % 100 <= 13;
  const endings = ["th", "st", "nd", "rd"];
  return `${value}${(isTeen ? undefined : endings[value % 10]) ?? "th"}`;
}
