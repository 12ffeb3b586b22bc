import assert from "node:assert/strict";
import { test } from "node:test";
import { Batches } from "./batches.ts";

/**
 * Opens batches that double numbers. A batch with a negative number fails, and a batch with 0 has a
 * shared failure. Each batch waits until the test lets it end.
 */
function openDoubler(itemsMax: number) {
  const done: (readonly number[])[] = [];
  const release = Promise.withResolvers<void>();
  const batches = new Batches<number, number>(
    async (items) => {
      done.push(items);
      await release.promise;
      if (items.some((item) => item < 0)) throw new Error("negative");
      if (items.includes(0)) throw new RangeError("nothing works");
      return items.map((item) => 2 * item);
    },
    { itemsMax, isSharedFailure: (error) => error instanceof RangeError },
  );
  return {
    batches,
    done,
    letGo: () => release.resolve(),
  };
}

const turn = (): Promise<void> => new Promise(setImmediate);

test("Batches collects items that arrive during its work into one batch, in order and up to its maximum size", async () => {
  const { batches, done, letGo } = openDoubler(3);
  const first = [batches.add(1), batches.add(2)];
  await turn();
  const later = [3, 4, 5, 6].map((item) => batches.add(item));
  letGo();
  assert.deepEqual(await Promise.all([...first, ...later]), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(done, [[1, 2], [3, 4, 5], [6]]);
  assert.equal(await batches.add(7), 14, "and begins again when it was idle");
});

test("Batches retries the items of a failed batch one by one, unless the failure is shared", async () => {
  const { batches, done, letGo } = openDoubler(8);
  letGo();
  const mixed = await Promise.allSettled([1, -2, 3].map((item) => batches.add(item)));
  assert.deepEqual(
    mixed.map((each) => (each.status === "fulfilled" ? each.value : "failed")),
    [2, "failed", 6],
  );
  assert.deepEqual(done, [[1, -2, 3], [1], [-2], [3]]);
  const away = await Promise.allSettled([1, 0].map((item) => batches.add(item)));
  assert.deepEqual(
    away.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(done.length, 5, "no item was retried");
  assert.equal(await batches.add(4), 8);
});
