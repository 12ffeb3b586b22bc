/** The words of a language for whole numbers, in all forms of their inflection. */
export interface NumeralWords {
  readonly zero: ReadonlySet<string>;
  /** 1 to 9. */
  readonly units: ReadonlyMap<string, number>;
  /** 10 to 19. */
  readonly teens: ReadonlyMap<string, number>;
  /** 20, 30, ... 90. */
  readonly tens: ReadonlyMap<string, number>;
  readonly hundreds: ReadonlySet<string>;
  /** 1000, a million, and so on. */
  readonly scales: ReadonlyMap<string, number>;
  /** Hundreds and thousands that are written with their number, as in "tvöhundruð": 2. */
  readonly compounds: ReadonlyMap<string, number>;
  /** Forms of hundreds and scales that mean one of them when no number precedes. */
  readonly impliesOne: ReadonlySet<string>;
  /** The word "and". */
  readonly and: string;
  /** Whether "and" stands between tens and units: "tuttugu og fimm". */
  readonly tensTakeAnd: boolean;
  /** The word between whole number and decimals. */
  readonly decimal: string;
}

export interface Cardinal {
  readonly value: number;
  readonly count: number;
  /** Whether the number is only a word such as "þúsund", without a number in front of it. */
  readonly implied: boolean;
  /** The scale, if the number is a group and one scale of a million or more: "2 million". */
  readonly scale?: number;
}

interface Read {
  readonly value: number;
  readonly count: number;
}

/** Returns the number from 1 to 99 that begins at an index. */
export function readBelowHundred(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
): Read | undefined {
  const word = words[at] ?? "";
  const small = numerals.units.get(word) ?? numerals.teens.get(word);
  if (small !== undefined) return { value: small, count: 1 };
  const tens = numerals.tens.get(word);
  if (tens === undefined) return undefined;
  const skip = numerals.tensTakeAnd ? 2 : 1;
  if (skip === 2 && words[at + 1] !== numerals.and) return { value: tens, count: 1 };
  const unit = numerals.units.get(words[at + skip] ?? "");
  return unit === undefined ? { value: tens, count: 1 } : { value: tens + unit, count: skip + 1 };
}

/** Returns the whole number, at least 1, that begins at an index. */
export function readCardinal(
  words: readonly string[],
  at: number,
  numerals: NumeralWords,
): Cardinal | undefined {
  let value = 0;
  let end = at;
  let smallest = Infinity;
  let groups = 0;
  let implied = false;
  for (let next = at; smallest > 1;) {
    const group = readGroup(words, next, numerals) ?? impliedScale(words, next, at, numerals);
    if (!group) break;
    const scaleAt = next + group.count;
    const scale = scaleOf(words[scaleAt] ?? "", group, numerals);
    if (scale >= smallest) break;
    value += group.value * scale;
    smallest = scale;
    end = scale > 1 ? scaleAt + 1 : scaleAt;
    groups += 1;
    implied = groups === 1 && end - at === 1 && numerals.impliesOne.has(words[at] ?? "");
    next = words[end] === numerals.and ? end + 1 : end;
  }
  if (groups === 0) return undefined;
  const scale = groups === 1 && smallest >= 1_000_000 ? { scale: smallest } : {};
  return { value, count: end - at, implied, ...scale };
}

/** Returns a number in front of a scale, or without one: up to 9,999 as in "fifteen hundred". */
function readGroup(words: readonly string[], at: number, numerals: NumeralWords): Read | undefined {
  const first = readBelowHundred(words, at, numerals);
  const hundredAt = at + (first?.count ?? 0);
  const word = words[hundredAt] ?? "";
  const compound = numerals.compounds.get(word);
  if (!numerals.hundreds.has(word) || (first && compound !== undefined)) return first;
  if (!first && compound === undefined && !numerals.impliesOne.has(word)) return undefined;
  const hundreds = { value: (first?.value ?? compound ?? 1) * 100, count: hundredAt + 1 - at };
  const restAt = words[hundredAt + 1] === numerals.and ? hundredAt + 2 : hundredAt + 1;
  const rest = readBelowHundred(words, restAt, numerals);
  // In "two hundred and three hundred" there are two numbers.
  if (!rest || numerals.hundreds.has(words[restAt + rest.count] ?? "")) return hundreds;
  return { value: hundreds.value + rest.value, count: restAt + rest.count - at };
}

/** Returns the number of a scale without a word in front of it: "þúsund" and "þrjúþúsund". */
function impliedScale(
  words: readonly string[],
  next: number,
  at: number,
  { impliesOne, compounds }: NumeralWords,
): Read | undefined {
  const word = words[next] ?? "";
  const value = compounds.get(word) ?? (next === at && impliesOne.has(word) ? 1 : undefined);
  return value === undefined ? undefined : { value, count: 0 };
}

/** Returns the scale of a word after a group; 1 if it is none, or has a number of its own. */
function scaleOf(word: string, group: Read, { scales, compounds }: NumeralWords): number {
  return group.count > 0 && compounds.has(word) ? 1 : (scales.get(word) ?? 1);
}
