import { percentWords, readUnitSign } from "../../writing/icelandic/units.ts";
import { icelandicNumbers } from "./icelandic-numbers.ts";
import type { Token } from "./token.ts";
import { replacedAfterNumbers, writtenNumbers } from "./written-numbers.ts";

/** Abbreviations whose full form does not depend on the sentence. */
const abbreviations: Readonly<Record<string, string>> = {
  "a.m.k.": "að minnsta kosti",
  "e.h.": "eftir hádegi",
  "f.h.": "fyrir hádegi",
  "m.a.": "meðal annars",
  "m.ö.o.": "með öðrum orðum",
  "o.fl.": "og fleira",
  "o.s.frv.": "og svo framvegis",
  "o.þ.h.": "og þess háttar",
  "s.s.": "svo sem",
  "t.d.": "til dæmis",
  "u.þ.b.": "um það bil",
  "þ.á.m.": "þar á meðal",
  "þ.e.": "það er",
  "þ.e.a.s.": "það er að segja",
  "dr.": "doktor",
  "hr.": "herra",
  "kl.": "klukkan",
  "kr.": "krónur",
  "nr.": "númer",
  "sbr.": "samanber",
  "skv.": "samkvæmt",
  "bls.": "blaðsíða",
  "f.kr.": "fyrir krist",
  "e.kr.": "eftir krist",
  "þús.": "þúsund",
};
/** The same abbreviations without the last period, which may be missing before another sign. */
const withoutPeriod = new Map(
  Object.entries(abbreviations).map(([short, full]) => [short.slice(0, -1), full]),
);

/**
 * Normalizes Icelandic words, which are in lower case already: punctuation is removed, the common
 * abbreviations are written out, and numbers are digits.
 */
export function normalizeIcelandic(words: readonly string[]): Token[] {
  const tokens = writtenNumbers(words, "is").flatMap(({ text, ...range }) =>
    rewriteWord(text).map((part): Token => ({ text: part, ...range })),
  );
  return replacedAfterNumbers(icelandicNumbers(tokens), unitAt);
}

/** Reads a unit, "prósent" or "krónur" in any case. */
function unitAt(words: readonly string[], at: number) {
  if (percentWords.has(words[at] ?? "")) return { texts: ["prósent"], count: 1 };
  const unit = readUnitSign(words, at);
  return (
    unit && { texts: rewriteWord(unit.text.normalize("NFKC").toLowerCase()), count: unit.count }
  );
}

function rewriteWord(word: string): string[] {
  const bare = word.replaceAll(/^[^\p{L}\p{N}%]+|[^\p{L}\p{N}%.]+$/gu, "");
  const full = withoutPeriod.get(bare.replace(/\.$/, ""));
  if (full !== undefined) return full.split(" ");
  return (
    bare
      .replaceAll("%", " prósent ")
      .replaceAll("&", " og ")
      // 1.234 is one thousand and so on; 9.30 and 9:30 are times.
      .replaceAll(/(?<=\d)\.(?=\d{3}(?!\d))/gu, "")
      .replaceAll(/(?<=\d)[.:](?=\d)/gu, " ")
      // A comma between digits is a decimal comma.
      .split(/(?:[^\p{L}\p{M}\p{N},]|(?<!\d),|,(?!\d))+/u)
      .filter((part) => part !== "")
  );
}
