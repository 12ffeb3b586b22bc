import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SlabPool } from "./slab-pool.ts";

const sparesMax = 256;

test("SlabPool keeps a limited number of free slabs across all lengths, the most recently released ones", () => {
  const pool = new SlabPool();
  const given = Array.from({ length: 400 }, (_, index) => new Int16Array(index + 1));
  for (const slab of given) pool.release(slab);
  const isKept = given.map((slab) => pool.take(slab.length) === slab);
  assert.deepEqual(
    isKept,
    given.map((_, index) => index >= given.length - sparesMax),
  );

  // Many slabs of one length, after slabs of many other lengths.
  for (const slab of given) pool.release(slab);
  const alike = Array.from({ length: 400 }, () => new Int16Array(1000));
  for (const slab of alike) pool.release(slab);
  const known = new Set<Int16Array>([...given, ...alike]);
  const kept = (length: number) => known.has(pool.take(length));
  assert.equal(alike.filter(() => kept(1000)).length, sparesMax);
  assert.ok(!given.some(({ length }) => kept(length)));
});

test("SlabPool never lends out a slab twice without a release in between", () => {
  const turn = fc.record({ isTaken: fc.boolean(), length: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(fc.array(turn, { minLength: 500, maxLength: 1500 }), (turns) => {
      const pool = new SlabPool();
      const lent = new Set<Int16Array>();
      const spare = new Set<Int16Array>();
      for (const { isTaken, length } of turns) {
        if (isTaken) {
          const slab = pool.take(length);
          assert.equal(slab.length, length);
          assert.ok(!lent.has(slab), "it is in use");
          spare.delete(slab);
          lent.add(slab);
          continue;
        }
        const slab = [...lent].find((each) => each.length === length) ?? new Int16Array(length);
        lent.delete(slab);
        spare.add(slab);
        pool.release(slab);
      }
      const again = [...spare].filter(({ length }) => spare.has(pool.take(length)));
      assert.ok(again.length <= sparesMax, `${again.length} are kept`);
    }),
    { numRuns: 50 },
  );
});
