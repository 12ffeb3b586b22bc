import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { foldText } from "./fold-text.ts";

test("foldText() returns the same form for texts that differ only in case", () => {
  const rows: [folded: string, ...texts: string[]][] = [
    ["þá ðæ ýö", "ÞÁ ÐÆ ÝÖ", "þá ðæ ýö", "Þá Ðæ Ýö", "þá ðæ ýö".normalize("NFD")],
    ["strasse", "STRASSE", "straße", "STRAẞE", "Straſſe"],
    ["οδοσ", "ΟΔΟΣ", "οδος", "οδοσ"],
    ["ό ώ ΐ", "Ό Ώ Ϊ́", "ό ώ ΐ", "Ό Ώ ΐ".normalize("NFD")],
    ["office", "OFFICE", "oﬃce", "o\uFB03ce", "oﬀice"],
    ["istanbul iiii", "İSTANBUL Iiİı", "ıstanbul İIıi", "i\u0307stanbul iiii"],
    ["å ω k µ".normalize("NFKC"), "\u212B \u2126 \u212A \u00B5", "Å Ω K Μ", "å ω k μ"],
    ["ǆ ŉ".normalize("NFC").replace("ŉ", "ʼn"), "Ǆ ŉ", "ǅ ʼN"],
    ["привет", "ПРИВЕТ"],
    ["հայ եւ", "ՀԱՅ ԵՒ", "հայ և"],
    ["会議録 한국어 ๑ 🎙️", "会議録 한국어 ๑ 🎙️", "会議録 한국어 ๑ 🎙️".normalize("NFD")],
    ["", ""],
  ];
  for (const [folded, ...texts] of rows) {
    for (const text of texts) assert.equal(foldText(text), folded, text);
  }
});

test("foldText() distinguishes texts that differ in more than case", () => {
  for (const [one, other] of [
    ["a", "á"],
    ["o", "ö"],
    ["d", "ð"],
    ["th", "þ"],
    ["i", "í"],
    ["σ", "s"],
    ["会", "會"],
  ]) {
    assert.notEqual(foldText(one ?? ""), foldText(other ?? ""));
  }
});

test("foldText() is idempotent, and returns the same form for a character, its other cases and its decomposition", () => {
  for (let code = 0; code < 0x1_f000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const char = String.fromCodePoint(code);
    const folded = foldText(char);
    const same = [folded, char.toUpperCase(), char.toLowerCase(), char.normalize("NFD")];
    for (const other of same) {
      if (other !== char && foldText(other) !== folded) assert.fail(`U+${code.toString(16)}`);
    }
  }
});

/**
 * Texts with the letters of the most searched languages, and with letters that are difficult to
 * fold. The texts are composed, since the capital form of a separate mark can be a letter.
 */
const texts = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom(
        ..."þæðöáÍÚkKſ ".split(""),
        "ß",
        "ẞ",
        "ﬁ",
        "Σ",
        "σ",
        "ς",
        "İ",
        "ı",
        "i\u0307",
        "ŉ",
        "ΐ",
      ),
      fc.constantFrom("e\u0301", "A\u030A", "\u0307", "ᾳ", "가", "\u1100\u1161", "会", "👩🏽‍🚀"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    ),
    maxLength: 12,
  })
  .map((text) => text.normalize("NFC"));
const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const variants: ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => text.normalize("NFD"),
  (text) => text.toUpperCase().normalize("NFD"),
];

test("foldText() does not change folded text, and parts of a text in any case are found after folding", () => {
  fc.assert(
    fc.property(texts, fc.nat(), fc.nat(), fc.constantFrom(...variants), (text, a, b, variant) => {
      const folded = foldText(text);
      assert.equal(foldText(folded), folded);
      const parts = Array.from(graphemes.segment(text), ({ segment }) => segment);
      const start = a % (parts.length + 1);
      const part = parts.slice(start, start + (b % (parts.length + 1))).join("");
      assert.ok(folded.includes(foldText(variant(part))), `${part} in ${text}`);
    }),
    { numRuns: 5_000 },
  );
});
