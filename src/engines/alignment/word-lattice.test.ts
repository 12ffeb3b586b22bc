import assert from "node:assert/strict";
import { test } from "node:test";
import { type Emissions, type FoundWords, type SpokenWord, WordLattice } from "./word-lattice.ts";

/** The tokens are "_" (blank), " " (space) and these letters. */
const letters = "_ abcdefgh";
const model = {
  quiet: [0, 1],
  blank: 0,
  unexplainedCost: 1.5,
  anySoundCost: 0.2,
  pauseCost: 0.05,
  missingCost: 4,
  tokenCostMax: 5,
  framesPerSecond: 25,
};

/** Returns the outputs of a model that is certain of these tokens, one for each frame. */
function outputsFor(tokens: string): Emissions {
  const tokenCount = letters.length;
  const logs = new Float32Array(tokens.length * tokenCount).fill(Math.log(0.01));
  for (const [frame, token] of Array.from(tokens).entries()) {
    logs[frame * tokenCount + letters.indexOf(token)] = Math.log(0.9);
  }
  return { logs, frames: tokens.length, tokenCount };
}

/** A word with a token for each letter; "*" is any sound. */
function spell(word: string): SpokenWord {
  const arcs = Array.from(word, (letter, from) => {
    const token = letter === "*" ? undefined : letters.indexOf(letter);
    return { from, to: from + 1, token };
  });
  return { length: word.length, arcs };
}

function find(tokens: string, words: readonly string[]): FoundWords {
  const slices = new WordLattice(words.map(spell), model).find(outputsFor(tokens));
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** The frames of each word, as "first-last"; "" for a word that was not found. */
function framesOf({ words }: FoundWords): string[] {
  return words.map((word) => (word ? `${word.first}-${word.last}` : ""));
}

const cases: readonly [what: string, tokens: string, words: string[], frames: string[]][] = [
  ["words are found where they are", "__ab__ _cd__", ["ab", "cd"], ["2-3", "8-9"]],
  ["a word may follow another without a pause", "abcdef", ["abc", "def"], ["0-2", "3-5"]],
  ["blanks may be within a word", "_a__b__c_", ["abc"], ["1-7"]],
  ["a doubled letter has a blank between", "_ab_b_", ["abb"], ["1-4"]],
  ["a word that is not said is left out", "ab__gh__cd", ["ab", "cd"], ["0-1", "8-9"]],
  [
    "a word that is said but not written is passed",
    "ab____cdef",
    ["ab", "fgh", "cdef"],
    ["0-1", "", "6-9"],
  ],
  ["a replaced word is left out", "abc_defgh_abc", ["abc", "hgfed", "abc"], ["0-2", "", "10-12"]],
  ["one wrong letter does not exclude a word", "__abcdefgh__", ["abcgefgh"], ["2-9"]],
  [
    "any sound takes the sound between its neighbors",
    "ab _fgf_g_ cd",
    ["ab", "*", "cd"],
    ["0-1", "4-8", "11-12"],
  ],
  ["any sound may follow letters", "ab_gh cd", ["ab*", "cd"], ["0-4", "6-7"]],
  ["a silent word is not found", "ab__cd", ["ab", "", "cd"], ["0-1", "", "4-5"]],
  [
    "words after the end are not found",
    "ab_cd_",
    ["ab", "cd", "efgh", "abcd"],
    ["0-1", "3-4", "", ""],
  ],
  ["there may be no words", "ab_cd", [], []],
  ["there may be no sound", "", ["ab"], [""]],
  ["silence has no words", "________", ["abc", "def"], ["", ""]],
];
for (const [what, tokens, words, frames] of cases) {
  test(what, () => {
    const found = framesOf(find(tokens, words)).map((each, index) => {
      // Silence next to any sound may belong to it.
      return words[index] === "*" ? trimmed(each, tokens) : each;
    });
    assert.deepEqual(found, frames);
  });
}

function trimmed(frames: string, tokens: string): string {
  let [first = 0, last = 0] = frames.split("-").map(Number);
  while (first < last && "_ ".includes(tokens[first] ?? "")) first++;
  while (first < last && "_ ".includes(tokens[last] ?? "")) last--;
  return `${first}-${last}`;
}

test("the score of a word shows how well it fits", () => {
  const { words } = find("abcd_abcd_gh", ["abcd", "abch", "gh"]);
  const [right, wrong, last] = words.map((word) => word?.score ?? 0);
  assert.ok(right !== undefined && right > 0.85, `${right}`);
  assert.ok(wrong !== undefined && wrong < 0.5, `${wrong}`);
  assert.ok(last !== undefined && last > 0.85, `${last}`);
});

test("sound without words is unexplained, and silence is not", () => {
  const { isUnexplained } = find("ab__fg__cd", ["ab", "cd"]);
  assert.equal(isUnexplained.join(""), "0000110000");
});

test("many more words than the sound can hold are left out", () => {
  const words = Array.from({ length: 3000 }, () => "abcdefgh");
  const { words: found } = find("abcdefgh_".repeat(3), words);
  assert.equal(found.filter(Boolean).length, 3);
});

test("a long text is found in a long recording in which much is missing", () => {
  const texts = Array.from({ length: 800 }, (_, index) => {
    const order = Array.from("abcdefgh");
    return [0, 3, 5, 1].map((step) => order[(index * 5 + step * (1 + (index % 7))) % 8]).join("");
  });
  const said = texts.filter((_, index) => index % 100 >= 12);
  const { words } = find(said.map((word) => `${word}__`).join(""), texts);
  const right = texts.filter((_, index) => (words[index] !== undefined) === index % 100 >= 12);
  assert.ok(right.length > 0.95 * texts.length, `${right.length} of ${texts.length}`);
});

test("words of several tokens are found by any of their spellings", () => {
  const tokenOf = (letter: string) => letters.indexOf(letter);
  const word: SpokenWord = {
    length: 3,
    arcs: [
      { from: 0, to: 1, token: tokenOf("a") },
      { from: 0, to: 2, token: tokenOf("g") },
      { from: 1, to: 2, token: tokenOf("b") },
      { from: 2, to: 3, token: tokenOf("c") },
    ],
  };
  for (const [tokens, frames] of [
    ["_abc_", "1-3"],
    ["__gc_", "2-3"],
  ] as const) {
    const slices = new WordLattice([word], model).find(outputsFor(tokens));
    let slice = slices.next();
    while (!slice.done) slice = slices.next();
    assert.deepEqual(framesOf(slice.value), [frames]);
  }
});
