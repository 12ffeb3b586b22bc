import assert from "node:assert/strict";
import { test } from "node:test";
import { mapInTurns } from "./in-turns.ts";

test("mapInTurns() maps items in order, and lets other events run between its turns", async () => {
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const mapped = await mapInTurns([1, 2, 3], (item) => {
    const end = performance.now() + 10;
    while (performance.now() < end);
    return item * 2;
  });
  clearImmediate(next);
  assert.deepEqual(mapped, [2, 4, 6]);
  assert.ok(turns >= 2, `${turns} turns of other events`);
  assert.deepEqual(await mapInTurns([], String), []);
});
