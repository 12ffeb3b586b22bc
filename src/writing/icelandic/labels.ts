import { readDigitsAfter } from "../digit-runs.ts";
import { phraseRule, type Rule } from "../rule.ts";
import { icelandicNumerals as numerals, readIcelandicNumber } from "./numerals.ts";

/** Words before a number, and their abbreviations. */
const labels = new Map([
  ["númer", "nr."],
  ["blaðsíða", "bls."],
  ["blaðsíðu", "bls."],
]);

/** Writes "númer fimm" as nr. 5. */
export const icelandicLabel: Rule = (words, at) => {
  const text = labels.get(words[at] ?? "");
  const run = text === undefined ? undefined : readDigitsAfter(words, at + 1, numerals);
  if (text !== undefined && run && run.groups > 2 && run.groups === run.digits.length) {
    return [
      { text, count: 1 },
      { text: run.digits, count: run.count },
    ];
  }
  const number = text === undefined ? undefined : readIcelandicNumber(words, at + 1);
  if (text === undefined || !number || number.scaleWord !== undefined) return undefined;
  const digits = number.isDecimal ? number.text : String(number.value);
  return [
    { text, count: 1 },
    { text: digits, count: number.count },
  ];
};

/** Writes the abbreviations that are usual in running text, without spaces (Ritreglur). */
export const icelandicAbbreviation: Rule = phraseRule(
  new Map([
    ["til dæmis", "t.d."],
    ["meðal annars", "m.a."],
    ["og svo framvegis", "o.s.frv."],
    ["og þess háttar", "o.þ.h."],
    ["og fleira", "o.fl."],
    ["það er að segja", "þ.e.a.s."],
    ["fyrir hönd", "f.h."],
    ["fyrir krist", "f.Kr."],
    ["eftir krist", "e.Kr."],
  ]),
  4,
);
