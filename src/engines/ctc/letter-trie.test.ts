import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { LetterTrie } from "./letter-trie.ts";
import { lettersOf } from "./token-table.ts";

function endOf(trie: LetterTrie, word: string): number | undefined {
  let state: number | undefined = 0;
  for (const letter of lettersOf(word)) {
    state = state === undefined ? undefined : trie.next(state, letter);
  }
  return state;
}

test("a trie contains its words and their beginnings, and nothing else", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "á", "b", "ð"),
    minLength: 1,
    maxLength: 6,
  });
  const property = fc.property(
    fc.array(letters, { maxLength: 200, size: "max" }),
    letters,
    (words, other) => {
      const trie = new LetterTrie();
      for (const word of words) assert.equal(trie.add(lettersOf(word)), endOf(trie, word));
      for (const word of [...words, other]) {
        const end = endOf(trie, word);
        assert.equal(
          end !== undefined,
          words.some((each) => each.startsWith(word)),
          word,
        );
        assert.equal(end !== undefined && trie.isEnd(end), words.includes(word), word);
      }
      const beginnings = words.flatMap((word) =>
        Array.from(word, (_, at) => word.slice(0, at + 1)),
      );
      assert.equal(trie.stateCount, 1 + new Set(beginnings).size);
    },
  );
  fc.assert(property, { numRuns: 30 });
});
