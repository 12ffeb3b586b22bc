import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HintGraph } from "./hint-graph.ts";
import { lettersOf } from "./token-table.ts";

function graphOf(phrases: readonly string[]): HintGraph {
  return new HintGraph(phrases.map((phrase) => ({ phrase, boost: 10 })));
}

/** The scores after each letter of the text, and at its end. */
function scoresOf(graph: HintGraph, text: string): readonly number[] {
  let state = graph.start;
  const scores = lettersOf(text).map((letter) => {
    state = graph.advance(state, letter);
    return state.score;
  });
  return [...scores, graph.finish(state)].map((score) => Math.round(score * 1e9) / 1e9);
}

/** The score of a letter with a boost of 10. */
const letter = scoresOf(graphOf(["a"]), "a").at(-1) ?? 0;

test("a phrase scores with each letter, keeps the score when complete, and loses it when it breaks off", () => {
  const graph = graphOf(["Góðan dag!"]);
  const rows: readonly (readonly [string, number])[] = [
    ["góðan dag", 8],
    ["góðan dag og góðan dag", 16],
    ["já góðan dag já", 8],
    ["góðan daginn", 0],
    ["góðan", 0],
    ["ógóðan dag", 0],
    ["góðan góðan dag", 8],
    ["", 0],
  ];
  for (const [text, letters] of rows) {
    const total = scoresOf(graph, text).at(-1) ?? 0;
    assert.ok(Math.abs(total - letters * letter) < 1e-6, `${text}: ${total}`);
  }
  const steps = scoresOf(graph, "góðin").map((score) => Math.abs(Math.round(score / letter)));
  assert.deepEqual(steps, [1, 2, 3, 0, 0, 0]);
});

test("only the longest of nested phrases counts, and consecutive phrases all count", () => {
  const phrases = ["a b", "a b c d", "b", "c e"];
  const graph = graphOf(phrases);
  const rows: readonly (readonly [string, number])[] = [
    ["a b c d", 4],
    ["a b c", 2],
    ["x b", 1],
    ["a b c e", 4],
    ["b b", 2],
    ["a c", 0],
  ];
  for (const [text, letters] of rows) {
    assert.equal(Math.round((scoresOf(graph, text).at(-1) ?? 0) / letter), letters, text);
  }
});

test("a phrase counts if a longer one that contains it breaks off", () => {
  const graph = graphOf(["a bc", "b", "d e f", "e"]);
  const rows: readonly (readonly [string, number])[] = [
    ["a b", 1],
    ["a b a bc", 4],
    ["d e f", 3],
    ["d e d", 1],
    ["d e", 1],
  ];
  for (const [text, letters] of rows) {
    assert.equal(Math.round((scoresOf(graph, text).at(-1) ?? 0) / letter), letters, text);
  }
});

test("the score of a phrase is proportional to its boost", () => {
  const graph = new HintGraph([
    { phrase: "a", boost: 20 },
    { phrase: "b", boost: 5 },
    { phrase: "c", boost: 0 },
    { phrase: "", boost: 0 },
    { phrase: "!?", boost: 0 },
  ]);
  const earned = ["a", "b", "c", " "].map((text) => scoresOf(graph, text).at(-1) ?? 0);
  assert.deepEqual(earned, [2 * letter, letter / 2, 0, 0]);
});

test("a phrase scores each time that it occurs, in any text", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 2 });
  const words = fc.array(word, { maxLength: 20 });
  const property = fc.property(
    words,
    fc.array(word, { minLength: 1, maxLength: 3 }),
    (said, phrase) => {
      const graph = graphOf([phrase.join(" ")]);
      const text = said.join(" ");
      const value = phrase.join("").length * letter;
      const scores = scoresOf(graph, text);
      const times = said.filter((_, at) => phrase.every((each, n) => said[at + n] === each)).length;
      const total = (scores.at(-1) ?? 0) / value;
      // Overlapping occurrences may count only once.
      assert.ok(total <= times + 1e-6, `${total} of ${times} in ${text}`);
      assert.equal(total > 0.5, times > 0);
      assert.ok(scores.every((score) => score >= 0));
    },
  );
  fc.assert(property, { numRuns: 1000 });
});
