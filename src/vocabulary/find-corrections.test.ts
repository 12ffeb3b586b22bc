import assert from "node:assert/strict";
import { test } from "node:test";
import { correctionsMax, findCorrections } from "./find-corrections.ts";

const wordsOf = (text: string) => text.split(/(?<=\s)/);

function corrections(before: string, after: string, languageCode = "is-IS"): string[] {
  const edit = { before: wordsOf(before), after: wordsOf(after) };
  return findCorrections([edit], languageCode).map(({ phrase }) => phrase);
}

test("findCorrections() returns what an editor wrote in place of words", () => {
  const rows: [before: string, after: string, found: string[]][] = [
    ["hann býr á kópa skeri", "hann býr á Kópaskeri", ["Kópaskeri"]],
    ["hann hitti jón", "Hann hitti Ásu Ósk.", ["Ásu Ósk"]],
    ["frú ragnheiður skúla dóttir kom", "frú Ragnheiður Skúladóttir kom", ["Skúladóttir"]],
    ["það er gott", "það er vont og það er kalt", []],
    ["a b c d e", "a x y z w e", []],
    // Only case and marks have changed.
    ["hann býr á kópaskeri", "Hann býr „á Kópaskeri“.", []],
    ["netfang er e-mail", "netfang er email", []],
    // Words were added or removed, but none replaced.
    ["hann kom", "hann kom heim", []],
    ["hann kom heim", "hann kom", []],
    // Numbers, in digits and in words.
    ["hann á tólf", "hann á 12", []],
    ["klukkan er tólf", "klukkan er þrettán", []],
    ["það kostar hundrað", "það kostar tvö hundruð", []],
    // Two letters do not make a term.
    ["er það", "eru við það", ["eru við"]],
    ["er það", "ef það", []],
    ["hann býr þar", "hann býr 🏔️ þar", []],
    ["a x b x c", "a Ása b ása c", ["Ása"]],
  ];
  for (const [before, after, found] of rows) {
    assert.deepEqual(corrections(before, after), found, `${before} | ${after}`);
  }
  assert.deepEqual(corrections("it costs five", "it costs twenty one", "en-US"), []);
  assert.deepEqual(corrections("by shivon", "by Siobhan", "en-US"), ["Siobhan"]);
});

test("findCorrections() ignores what is written in place of numbers and abbreviations", () => {
  const edit = {
    before: wordsOf("það kostar 250 kr. hjá jóni"),
    after: wordsOf("það kostar 250 krónur hjá Jónasi"),
  };
  const found = (formatted: ReadonlySet<number>) =>
    findCorrections([{ ...edit, formatted }], "is-IS").map(({ phrase }) => phrase);
  assert.deepEqual(found(new Set()), ["krónur", "Jónasi"]);
  assert.deepEqual(found(new Set([2, 3])), ["Jónasi"]);
});

test("a save has at most twenty corrections, and a long phrase is none", () => {
  const texts = Array.from({ length: 50 }, (_, index) => [
    `og a${index}`,
    `og orð-${"á".repeat(index)}`,
  ]);
  const [before = [], after = []] = [0, 1].map((side) => texts.map((pair) => `${pair[side]} `));
  assert.equal(corrections(before.join(""), after.join("")).length, correctionsMax);
  assert.deepEqual(corrections("a b", `a ${"á".repeat(101)}`), []);
});
