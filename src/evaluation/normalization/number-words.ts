import type { Token } from "./token.ts";

/** The meaning of a number word. */
export interface NumberWord {
  /** unit: 0 to 9. teen: 10 to 19. ten: 20, 30, ... 90. hundred. scale: 1000, 1000000, ... */
  readonly kind: "unit" | "teen" | "ten" | "hundred" | "scale";
  readonly value: number;
  readonly isOrdinal: boolean;
}

/** A number at the start of some tokens. */
export interface ReadNumber {
  readonly value: number;
  readonly isOrdinal: boolean;
  /** The number of tokens. */
  readonly length: number;
  /** Whether the number has a hundred or a scale in it. */
  readonly isLarge: boolean;
}

/** The grammar of a language's number words. */
export interface NumberGrammar {
  readonly wordOf: (text: string) => NumberWord | undefined;
  /** The word that may join the parts of a number: and, og. */
  readonly joiner: string;
  /** Whether the joiner may also precede a unit after a ten: tuttugu og einn. */
  readonly joinsTens: boolean;
  /** Whether "hundred" and "thousand" stand for one of them, without a number before them. */
  readonly hasBareScales: boolean;
  /** Whether an ordinal may continue: tuttugasti og fyrsti. */
  readonly continuesOrdinals: boolean;
}

/** Adds number words to a number, as long as they continue it. */
class Accumulator {
  total = 0;
  /** The part below the next scale. */
  group = 0;
  isLarge = false;
  isOrdinal = false;
  last: NumberWord | undefined;
  readonly #grammar: NumberGrammar;
  #scaleMax = Infinity;

  constructor(grammar: NumberGrammar) {
    this.#grammar = grammar;
  }

  /** Adds a word and returns true, or returns false if the word does not continue the number. */
  add(word: NumberWord): boolean {
    if (this.isOrdinal && !(this.#grammar.continuesOrdinals && word.isOrdinal)) return false;
    if (!this.#fits(word)) return false;
    const { kind, value } = word;
    if (kind === "hundred") this.group = Math.max(1, this.group) * 100;
    else if (kind === "scale") {
      this.total += Math.max(1, this.group) * value;
      this.group = 0;
      this.#scaleMax = value;
    } else this.group += value;
    this.isLarge ||= kind === "hundred" || kind === "scale";
    this.isOrdinal = word.isOrdinal;
    this.last = word;
    return true;
  }

  #fits({ kind, value }: NumberWord): boolean {
    const { group, last } = this;
    const bare = this.#grammar.hasBareScales;
    if (kind === "unit") {
      return last === undefined || (value > 0 && last.kind !== "unit" && last.kind !== "teen");
    }
    if (kind === "hundred") return group === 0 ? bare : group < 100 && last?.kind !== "hundred";
    if (kind === "scale") {
      return value < this.#scaleMax && (group > 0 || (bare && last === undefined));
    }
    return last === undefined || last.kind === "hundred" || last.kind === "scale";
  }
}

/** Reads the number whose words begin at `at`; undefined if there is none. */
export function readNumber(
  tokens: readonly Token[],
  at: number,
  grammar: NumberGrammar,
): ReadNumber | undefined {
  const number = new Accumulator(grammar);
  let end = at;
  for (;;) {
    const word = grammar.wordOf(tokens[end]?.text ?? "");
    if (word && number.add(word)) {
      end += 1;
      continue;
    }
    // The joiner belongs to the number only if the word after it continues the number.
    const { last } = number;
    const next = grammar.wordOf(tokens[end + 1]?.text ?? "");
    const isAfterLarge = last?.kind === "hundred" || last?.kind === "scale";
    const mayJoin = isAfterLarge || (grammar.joinsTens && last?.kind === "ten");
    const isJoined = tokens[end]?.text === grammar.joiner && mayJoin;
    if (!isJoined || !next || !number.add(next)) break;
    end += 2;
  }
  if (end === at) return undefined;
  const { total, group, isOrdinal, isLarge } = number;
  return { value: total + group, isOrdinal, length: end - at, isLarge };
}

/** Replaces `length` tokens from `at` on by one token with this text. */
export function merged(
  tokens: readonly Token[],
  { at, length, text }: { readonly at: number; readonly length: number; readonly text: string },
): Token {
  const [first, last] = [tokens[at], tokens[at + length - 1]];
  return { text, from: first?.from ?? 0, to: last?.to ?? 0 };
}
