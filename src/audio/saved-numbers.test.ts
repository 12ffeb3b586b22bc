import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SavedNumbers } from "./saved-numbers.ts";

describe("SavedNumbers", () => {
  test("returns numbers and lists in their order", () => {
    const saved = new SavedNumbers([7, 2, 10, 11, 5]);
    assert.equal(saved.next(), 7);
    assert.deepEqual(saved.list(), [10, 11]);
    assert.equal(saved.next(), 5);
    assert.equal(saved.next(), 0, "after the last one");
  });

  test("returns no more than there is, whatever the length of a list says", () => {
    for (const length of [1e9, 2 ** 40, 3]) {
      assert.deepEqual(new SavedNumbers([length, 1, 2]).list(), [1, 2]);
    }
    assert.deepEqual(new SavedNumbers([-1, 1]).list(), []);
  });
});
