import assert from "node:assert/strict";
import { mock, test } from "node:test";
import fc from "fast-check";
import { SlabPool } from "./slab-pool.ts";

/** The number that is kept without load, and the time after which less load is seen. */
const sparesMin = 256;
const windowMs = 10_000;

test("SlabPool keeps a limited number of free slabs across all lengths, the most recently released ones", () => {
  const pool = new SlabPool();
  const given = Array.from({ length: 400 }, (_, index) => new Int16Array(index + 1));
  for (const slab of given) pool.release(slab);
  const isKept = given.map((slab) => pool.take(slab.length) === slab);
  assert.deepEqual(
    isKept,
    given.map((_, index) => index >= given.length - sparesMin),
  );

  // Many slabs of one length, after slabs of many other lengths: 400 were taken in this window.
  for (const slab of given) pool.release(slab);
  const alike = Array.from({ length: 500 }, () => new Int16Array(1000));
  for (const slab of alike) pool.release(slab);
  const known = new Set<Int16Array>([...given, ...alike]);
  const kept = (length: number) => known.has(pool.take(length));
  assert.equal(alike.filter(() => kept(1000)).length, 400);
  assert.ok(!given.some(({ length }) => kept(length)));
});

test("SlabPool allocates nothing under a steady load, and frees memory after it", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const pool = new SlabPool();
  // 500 streams that release four slabs each at the end of an utterance, all at once.
  const known = new Set<Int16Array>();
  const utter = (): number => {
    const slabs = Array.from({ length: 2000 }, () => pool.take(16));
    const allocated = slabs.filter((slab) => !known.has(slab)).length;
    for (const slab of slabs) known.add(slab);
    for (const slab of slabs) pool.release(slab);
    mock.timers.tick(4_000);
    return allocated;
  };
  assert.equal(utter(), 2000);
  for (let utterance = 0; utterance < 20; utterance += 1) assert.equal(utter(), 0);
  mock.timers.tick(2 * windowMs);
  const slabs = Array.from({ length: 300 }, () => pool.take(16));
  assert.equal(slabs.filter((slab) => known.has(slab)).length, sparesMin);
  mock.timers.reset();
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
      const most = Math.max(sparesMin, turns.filter(({ isTaken }) => isTaken).length);
      const again = [...spare].filter(({ length }) => spare.has(pool.take(length)));
      assert.ok(again.length <= most, `${again.length} are kept`);
    }),
    { numRuns: 50 },
  );
});
