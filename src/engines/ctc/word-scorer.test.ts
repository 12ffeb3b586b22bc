import assert from "node:assert/strict";
import { test } from "node:test";
import { LetterTrie } from "./letter-trie.ts";
import { lettersOf, type Token, tokenTable } from "./token-table.ts";
import { WordScorer } from "./word-scorer.ts";

const known = new LetterTrie();
for (const word of ["takk", "fyrir", "fyrirfram"]) known.add(lettersOf(word));
const lexicon = { words: known, penalty: 4 };

/**
 * The tokens for these symbols: letters and spaces, or parts of words with the mark of a beginning.
 */
function tokensOf(symbols: readonly string[]): readonly (Token | undefined)[] {
  return tokenTable("tokens.txt", [...symbols, "<blk>"]).tokens.slice(0, -1);
}

function scores(scorer: WordScorer, symbols: readonly string[]): readonly [number[], number] {
  let state = scorer.start;
  const steps = tokensOf(symbols).map((token) => {
    assert.ok(token);
    state = scorer.advance(state, token);
    return Number(state.score.toFixed(6));
  });
  return [steps, Number(scorer.finish(state).toFixed(6))];
}

const spaced = (text: string) => Array.from(text, (letter) => (letter === " " ? "▁" : letter));

test("a word outside the lexicon is penalized once, as soon as no known word begins with its letters", () => {
  const scorer = new WordScorer(lexicon);
  assert.deepEqual(scores(scorer, spaced("takk")), [[0, 0, 0, 0], 0]);
  assert.deepEqual(scores(scorer, spaced("tapaði")), [[0, 0, -4, -4, -4, -4], -4]);
  assert.deepEqual(scores(scorer, spaced("tak fy")), [[0, 0, 0, -4, -4, -4], -8]);
  assert.deepEqual(scores(scorer, spaced("takk fyrir")).at(1), 0);
  assert.deepEqual(scores(scorer, ["▁TAKK", "▁fyrir", "fram"]), [[0, 0, 0], 0]);
  assert.deepEqual(scores(scorer, ["▁takk", "▁fyrir", "fra", "▁"]), [[0, 0, 0, -4], -4]);
  assert.deepEqual(scores(scorer, []), [[], 0]);
});

test("words in hints count as known", () => {
  const hints = [
    { phrase: "Esja", boost: 0 },
    { phrase: "tapaði Takk", boost: 0 },
  ];
  const scorer = new WordScorer(lexicon, hints);
  assert.equal(scores(scorer, spaced("esja tapaði takk")).at(1), 0);
  assert.equal(scores(scorer, spaced("esj")).at(1), -4);
  assert.equal(scores(scorer, spaced("esjan")).at(1), -4);
});

test("hints raise the score of a text's words, even without a lexicon", () => {
  const scorer = new WordScorer(undefined, [{ phrase: "Esja", boost: 10 }]);
  const [steps, total] = scores(scorer, spaced("á esja og esjan"));
  assert.ok(total > 0);
  assert.deepEqual(steps.slice(0, 2), [0, 0]);
  const [first = 0] = steps.slice(2, 3);
  assert.ok(first > 0 && Math.abs(total - 4 * first) < 1e-6);
  assert.ok(Math.abs((steps.at(-2) ?? 0) - 8 * first) < 1e-6, "the second phrase so far");
});

test("without a lexicon and hints, there is no score", () => {
  assert.deepEqual(scores(new WordScorer(undefined), spaced("xyz x")), [[0, 0, 0, 0, 0], 0]);
});
