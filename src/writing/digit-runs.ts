import { readBelowHundred, type NumeralWords } from "./cardinals.ts";
import { readDigit } from "./numbers.ts";

export interface DigitRun {
  readonly digits: string;
  /** The number of words. */
  readonly count: number;
  /** The numbers that the words make: "fimm fimm fimm tólf" are four. */
  readonly groups: number;
  /** Whether the digits only count up, as in "one two three". */
  readonly counts: boolean;
}

/** The longest run that is read, in numbers; none of the numbers that people dictate is longer. */
const groupsMax = 14;

/** Reads a whole run of numbers below 100, said one after another: none precedes it. */
export function readDigitRun(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
): DigitRun | undefined {
  if (isNumber(words[at - 1] ?? "", numerals)) return undefined;
  return readDigitsAfter(words, at, numerals);
}

/** Reads such a run after anything: a label, or the first part of a telephone number. */
export function readDigitsAfter(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
): DigitRun | undefined {
  let digits = "";
  let groups = 0;
  let counts = true;
  let previous: number | undefined;
  let end = at;
  for (; groups < groupsMax; groups += 1) {
    const zero = readDigit(words[end], numerals) === 0;
    const group = zero ? { value: 0, count: 1 } : readBelowHundred(words, end, numerals);
    if (!group) break;
    counts &&= previous === undefined || group.value === previous + 1;
    previous = group.value;
    digits += String(group.value);
    end += group.count;
  }
  return groups < 2 ? undefined : { digits, count: end - at, groups, counts };
}

function isNumber(word: string, { zero, units, teens, tens }: NumeralWords): boolean {
  return zero.has(word) || units.has(word) || teens.has(word) || tens.has(word);
}
