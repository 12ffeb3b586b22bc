import { readCardinal } from "../cardinals.ts";
import { readDigitRun, readDigitsAfter } from "../digit-runs.ts";
import type { Piece, Rule } from "../rule.ts";
import { icelandicNumerals as numerals } from "./numerals.ts";

/** Writes telephone numbers (555-1234, +354 555-1234), kennitölur (010190-2389) and 112. */
export const icelandicDigits: Rule = (words, at) => {
  if (words[at] === "plús") return withCountryCode(words, at);
  const split = readSplitTelephone(words, at);
  if (split) return [split];
  const run = readDigitRun(words, at, numerals);
  if (!run || run.counts || run.groups < 3) return undefined;
  const { digits, count } = run;
  if (digits.length === 7) return [{ text: `${digits.slice(0, 3)}-${digits.slice(3)}`, count }];
  if (digits.length === 10) return [{ text: `${digits.slice(0, 6)}-${digits.slice(6)}`, count }];
  return digits === "112" ? [{ text: digits, count }] : undefined;
};

/** Writes "plús þrír fimm fjórir" and seven digits. */
function withCountryCode(words: readonly string[], at: number): Piece[] | undefined {
  const run = readDigitsAfter(words, at + 1, numerals);
  const [, code = "", first = "", rest = ""] =
    /^(354)(\d{3})(\d{4})$/.exec(run?.digits ?? "") ?? [];
  if (!run || code === "") return undefined;
  // The code is three words when each of its digits is.
  const isSpelled = readDigitsAfter(words.slice(at + 1, at + 4), 0, numerals)?.digits === code;
  if (!isSpelled) return undefined;
  return [
    { text: `+${code}`, count: 4 },
    { text: `${first}-${rest}`, count: run.count - 3 },
  ];
}

/** Reads a telephone number that begins with hundreds: "fimm hundruð tuttugu og fimm ...". */
function readSplitTelephone(words: readonly string[], at: number): Piece | undefined {
  const first = readCardinal(words, at, numerals);
  if (!first || first.count === 1 || first.value < 100 || first.value > 999) return undefined;
  const run = readDigitsAfter(words, at + first.count, numerals);
  if (!run || run.digits.length !== 4 || readCardinal(words, at - 1, numerals)) return undefined;
  return { text: `${first.value}-${run.digits}`, count: first.count + run.count };
}
