import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hint } from "../protocol/engine.ts";
import { hintLanguage, type KnownWords } from "./hint-language.ts";

const dictionary = new Set(["will", "smith", "the", "siobhan"]);
const known: KnownWords = {
  isInDictionary: (word) => dictionary.has(word),
  isInModel: (word) => dictionary.has(word) && word !== "siobhan",
  soundsOf: (word) => (/[a-z]/i.test(word) ? [`<${word}>`] : []),
};

const hint = (phrase: string, boost = 10, soundsLike: readonly string[] = []): Hint => ({
  phrase,
  boost,
  soundsLike,
});

/** The logarithms of the words and pairs of words in the language of hints. */
function logs(hints: readonly Hint[]): ReadonlyMap<string, number> {
  const { arpa = "" } = hintLanguage(hints, known);
  const lines = arpa.split("\n").filter((line) => /^-?\d/.test(line));
  return new Map(
    lines.map((line) => {
      const [log10 = "", ...words] = line.split(" ");
      return [words.filter((word) => word !== "0").join(" "), Number(log10)];
    }),
  );
}

test("words that the dictionary lacks get the pronunciations of their letters", () => {
  const rows: [hint: Hint, pronunciations: [string, string][]][] = [
    [hint("Will Smith"), []],
    [hint("Blorf Smith"), [["blorf", "<Blorf>"]]],
    [
      hint("Blorf", 10, ["blow off", "bluff"]),
      [
        ["blorf", "<blow> <off>"],
        ["blorf", "<bluff>"],
      ],
    ],
    [hint("Siobhan", 10, ["shivawn"]), [["siobhan", "<shivawn>"]]],
    [hint("Siobhan Smith", 10, ["shivawn"]), []],
    [
      hint("Siobhan Blorf", 10, ["shi blow off"]),
      [
        ["siobhan", "<shi>"],
        ["blorf", "<blow> <off>"],
      ],
    ],
    [hint("Привет"), []],
    [hint("Привет", 10, ["privyet"]), [["привет", "<privyet>"]]],
  ];
  for (const [each, expected] of rows) {
    assert.deepEqual(hintLanguage([each], known).pronunciations, expected, each.phrase);
  }
});

test("a phrase that cannot be said is left out, and others are not", () => {
  assert.equal(hintLanguage([hint("Привет"), hint("!?")], known).arpa, undefined);
  const words = logs([hint("the Привет"), hint("Blorf")]);
  assert.deepEqual([...words.keys()], ["<s>", "</s>", "blorf"]);
});

test("a word is likelier with more boost, and the next word of a phrase is nearly certain", () => {
  const boosts = [0, 5, 10, 20].map((boost) => logs([hint("Blorf", boost)]).get("blorf") ?? 0);
  assert.deepEqual(
    boosts,
    boosts.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(boosts).size, boosts.length);
  const words = logs([hint("Blorf Zorg Smith")]);
  assert.equal(words.get("blorf zorg"), -0.1);
  assert.equal(words.get("zorg smith"), -0.1);
  assert.equal(words.get("zorg"), logs([hint("Zorg", 0)]).get("zorg"), "said alone it is rare");
  assert.equal(words.get("smith"), -99, "the model of the language knows it");
  assert.ok(
    (logs([hint("Will Smith")]).get("will") ?? 0) < (logs([hint("Will")]).get("will") ?? 0),
  );
});

test("a word of several phrases has the most that one of them gives it", () => {
  const words = logs([hint("Blorf", 5), hint("Blorf Zorg", 15), hint("Blorf Smith", 1)]);
  assert.equal(words.get("blorf"), logs([hint("Blorf", 15)]).get("blorf"));
  assert.equal(words.get("blorf zorg"), words.get("blorf smith"));
  assert.ok((words.get("blorf zorg") ?? 0) < -0.3, "they share the probability");
});
