import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { runs } from "../../../test/fixtures/property-runs.ts";
import { normalizations, normalizeWords, sourceWords } from "./normalize-words.ts";

function standard(text: string, languageCode: string): string {
  const how = { normalization: "standard", languageCode } as const;
  return normalizeWords(sourceWords(text), how)
    .map((token) => token.text)
    .join(" ");
}

/** Spellings that the glossary avoids are put together here. */
const british = ["our", "ise", "isation", "lled"].map((end, at) => {
  const stem = ["Behavi", "Recogn", "Organ", "Trave"][at] ?? "";
  return stem + end;
});

describe("normalizeWords() by the rules of English", () => {
  const rows: [text: string, normalized: string][] = [
    ["The weather, today!", "the weather today"],
    ["Uh, it's um fine.", "it is fine"],
    ["[noise] hello (laughter and talk) there", "hello there"],
    ["a (bracket that is not closed", "a bracket that is not closed"],
    ["They won't; I can't and you'd've", "they will not i can not and youd have"],
    ["I'm we're they'll could've didn't", "i am we are they will could have did not"],
    ["o’clock rock’n’roll", "oclock rocknroll"],
    ["Mr. Smith and Dr Jones", "mister smith and doctor jones"],
    ["café naïve", "cafe naive"],
    ["well-known and/or", "well known and or"],
    ["one", "1"],
    ["twenty one", "21"],
    ["twenty-one", "21"],
    ["two hundred and five people", "205 people"],
    ["two hundred people and five dogs", "200 people and 5 dogs"],
    ["one thousand two hundred thirty four", "1234"],
    ["1,234", "1234"],
    ["a hundred and a thousand", "100 and 1000"],
    ["two million three hundred thousand", "2300000"],
    ["2.5 million", "2500000"],
    ["a million", "1000000"],
    ["three point one four", "3.14"],
    ["3.14.", "3.14"],
    ["the point is", "the point is"],
    ["nineteen eighty four", "1984"],
    ["nineteen oh four", "1904"],
    ["twenty twenty", "2020"],
    ["nine thirty and 9:30", "930 and 930"],
    ["five five five one", "5551"],
    ["twenty first of May", "21st of may"],
    ["the first and the 1st", "the 1st and the 1st"],
    ["twelfth, two hundredth", "12th 200th"],
    ["five percent, 5%, five per cent", "5 percent 5 percent 5 percent"],
    ["$20 and $1 and £3.50", "20 dollars and 1 dollar and 3.50 pounds"],
    ["twenty dollars", "20 dollars"],
    ["hundreds of thousands", "hundreds of thousands"],
    ["Q&A", "q and a"],
    ["The U.S. end.", "the u s end"],
    [british[0] ?? "", "behavior"],
    [`${british[1]} ${british[2]}`, "recognize organization"],
    [
      `${british[3]} grey theatre kilometres centred analysed`,
      "traveled gray theater kilometers centered analyzed",
    ],
    ["wise advise promise our four hour emphasis", "wise advise promise our 4 hour emphasis"],
    ["...", ""],
  ];
  for (const [text, normalized] of rows) {
    test(`${JSON.stringify(text)} becomes ${JSON.stringify(normalized)}`, () => {
      assert.equal(standard(text, "en-GB"), normalized);
    });
  }
});

describe("normalizeWords() by the rules of Icelandic", () => {
  const rows: [text: string, normalized: string][] = [
    ["Góðan daginn, Þórður!", "góðan daginn þórður"],
    ["tvö hundruð og fimmtíu krónur", "250 krónur"],
    ["250 kr.", "250 krónur"],
    ["1.234 bækur", "1234 bækur"],
    ["eitt þúsund tvö hundruð þrjátíu og fjórar bækur", "1234 bækur"],
    ["nítján hundruð níutíu og fjögur", "1994"],
    ["tuttugasta og fyrsta janúar", "21 janúar"],
    ["21. janúar", "21 janúar"],
    ["annar maður, annar febrúar", "annar maður 2 febrúar"],
    ["í fyrsta sinn þann fyrsta maí", "í fyrsta sinn þann 1 maí"],
    ["eins og þrír menn og fjórar konur", "eins og 3 menn og 4 konur"],
    ["þrír komma fimm", "3,5"],
    ["3,5", "3,5"],
    ["fimm prósent og 5%", "5 prósent og 5 prósent"],
    ["tvær milljónir og 2 milljónir", "2000000 og 2000000"],
    ["2,5 milljónir", "2500000"],
    ["hundrað og fimm", "105"],
    ["þúsund manns", "1000 manns"],
    ["fimm og sex", "5 og 6"],
    ["sextándi og 16.", "16 og 16"],
    ["t.d. o.s.frv. þ.e.a.s.", "til dæmis og svo framvegis það er að segja"],
    ["kl. 9:30", "klukkan 9 30"],
    ["(hlátur) já [þögn]", "já"],
  ];
  for (const [text, normalized] of rows) {
    test(`${JSON.stringify(text)} becomes ${JSON.stringify(normalized)}`, () => {
      assert.equal(standard(text, "is-IS"), normalized);
    });
  }
});

test("normalizeWords() keeps the letters of other languages, and splits those without spaces", () => {
  assert.equal(standard("Schöne Grüße, l'été!", "de-DE"), "schöne grüße l été");
  assert.equal(standard("今日は。", "ja-JP"), "今 日 は");
});

test("plain normalization is lower case without punctuation, and none changes nothing", () => {
  const words = sourceWords("  It's nine o'clock, Þór! – ");
  const of = (normalization: "plain" | "none") =>
    normalizeWords(words, { normalization, languageCode: "en-US" });
  assert.deepEqual(of("plain"), [
    { text: "its", from: 0, to: 1 },
    { text: "nine", from: 1, to: 2 },
    { text: "oclock", from: 2, to: 3 },
    { text: "þór", from: 3, to: 4 },
  ]);
  assert.deepEqual(
    of("none").map((token) => token.text),
    ["It's", "nine", "o'clock,", "Þór!", "–"],
  );
});

test("a token of several words has the range of all of them", () => {
  const words = sourceWords("about two hundred and five people");
  const tokens = normalizeWords(words, { normalization: "standard", languageCode: "en-US" });
  assert.deepEqual(tokens[1], { text: "205", from: 1, to: 5 });
});

const languageCodes = ["en-US", "is-IS", "de-DE", "ja-JP"];
const someWords = fc.array(
  fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(
      ..."one twenty hundred and point oh first thousand $5 1,000 3.5 (x y) won't o'clock".split(
        " ",
      ),
      ..."tveir og hundrað komma fyrsta maí t.d. 1.234 þúsund".split(" "),
    ),
  ),
);

test("the ranges of tokens are within the words, in order, and do not overlap", () => {
  fc.assert(
    fc.property(
      someWords,
      fc.constantFrom(...languageCodes),
      fc.constantFrom(...normalizations),
      (drawn, languageCode, normalization) => {
        const words = sourceWords(drawn.join(" "));
        const tokens = normalizeWords(words, { normalization, languageCode });
        for (const [at, { text, from, to }] of tokens.entries()) {
          assert.ok(text !== "" && !/\s/u.test(text), JSON.stringify(text));
          assert.ok(from < to && to <= words.length);
          const before = tokens[at - 1];
          // The words of one source word have its range; other ranges follow each other.
          if (before) assert.ok(from >= before.to || from >= before.from, "order");
          if (before && to - from > 1) assert.ok(from >= before.to - 1);
        }
      },
    ),
    { numRuns: runs(1000) },
  );
});
