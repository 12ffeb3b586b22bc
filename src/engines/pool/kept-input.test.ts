import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { KeptInput } from "./kept-input.ts";
import { endUtterance, type RecognitionInput } from "../protocol/recognizer.ts";

const rate = 8000;
/** Samples that tell their place. */
const counting = (from: number, length: number) =>
  Int16Array.from({ length }, (_, index) => from + index);

/** Samples and marks, chunk by chunk no more. */
function flat(items: readonly RecognitionInput[]): (number | "mark")[] {
  return items.flatMap((item): (number | "mark")[] =>
    item === endUtterance ? ["mark"] : [...item],
  );
}

test("KeptInput gives again what came after a position, however it came", () => {
  const lengths = fc.array(fc.constantFrom(-1, 0, 1, 2, 79, 80, 300, 3999, 4000, 9000), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(lengths, fc.array(fc.nat(100), { maxLength: 5 }), (pieces, releases) => {
      const kept = new KeptInput(rate);
      const given: (number | "mark")[] = [];
      let [samples, releasedTo] = [0, 0];
      const releaseEvery = Math.ceil(pieces.length / (releases.length + 1));
      for (const [index, length] of pieces.entries()) {
        const item = length < 0 ? endUtterance : counting(samples, length);
        kept.push(item);
        given.push(...flat([item]));
        samples += Math.max(0, length);
        if (index % releaseEvery !== releaseEvery - 1) continue;
        const share = (releases[Math.floor(index / releaseEvery)] ?? 0) / 100;
        releasedTo = Math.max(releasedTo, Math.floor(given.length * share));
        const gone = given.slice(0, releasedTo);
        const marks = gone.filter((each) => each === "mark").length;
        kept.release({ samples: gone.length - marks, marks });
        assert.deepEqual(flat(kept.items()), given.slice(releasedTo));
      }
      assert.deepEqual(flat(kept.items()), given.slice(releasedTo));
      const left = given.slice(releasedTo).filter((each) => each !== "mark").length;
      assert.equal(kept.samples, left);
    }),
    { numRuns: 500 },
  );
});

test("KeptInput keeps long chunks as they came, and short ones together", () => {
  const kept = new KeptInput(rate);
  const chunk = counting(0, 4000);
  kept.push(chunk);
  assert.equal(kept.items()[0], chunk);
  kept.release({ samples: 4000, marks: 0 });
  assert.equal(kept.length, 0);

  for (let at = 0; at < 60 * rate; at++) kept.push(Int16Array.of(1));
  assert.equal(kept.samples, 60 * rate);
  assert.equal(kept.length, 60);
});
