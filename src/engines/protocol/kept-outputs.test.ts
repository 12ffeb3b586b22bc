import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { joinUtterances, utterancesOf } from "./kept-outputs.ts";

const utterance = fc.record(
  {
    startMs: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    bytes: fc.uint8Array({ maxLength: 50 }),
  },
  { noNullPrototype: true },
);

test("joined utterances are read as they were, also from the middle of other memory", () => {
  fc.assert(
    fc.property(fc.array(utterance), (utterances) => {
      const joined = joinUtterances(utterances);
      const within = new Uint8Array(joined.length + 5);
      within.set(joined, 3);
      const read = utterancesOf(within.subarray(3, 3 + joined.length));
      assert.deepEqual(
        read.map(({ startMs, bytes }) => ({ startMs, bytes: Uint8Array.from(bytes) })),
        utterances,
      );
    }),
  );
});

test("utterances that are cut off anywhere are refused", () => {
  const joined = joinUtterances([{ startMs: 7, bytes: Uint8Array.of(1, 2, 3) }]);
  for (let length = 1; length < joined.length; length++) {
    assert.throws(() => utterancesOf(joined.subarray(0, length)), RangeError, `${length}`);
  }
});
