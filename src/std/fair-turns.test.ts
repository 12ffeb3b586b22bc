import assert from "node:assert/strict";
import { test } from "node:test";
import { FairTurns } from "./fair-turns.ts";

function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

test("FairTurns lets the event loop run between calls that start at the same moment", async () => {
  const turns = new FairTurns();
  let loops = 0;
  let isOver = false;
  const count = (): void => {
    loops += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const call = async (): Promise<number> => {
    await turns.next("a");
    // A call's work after a promise and in a tick counts too.
    await Promise.resolve();
    work(2);
    process.nextTick(work, 2);
    return loops;
  };
  const seen = await Promise.all(Array.from({ length: 24 }, call));
  // Each call comes from its own timer, and all timers are due at the same time.
  const timers = Array.from({ length: 24 }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return await call();
  });
  seen.push(...(await Promise.all(timers)));
  isOver = true;
  const most = Math.max(
    ...[...new Set(seen)].map((loop) => seen.filter((at) => at === loop).length),
  );
  assert.ok(most <= 4, `${most} calls of 4 ms in one turn of the event loop`);
});

test("FairTurns alternates between accounts", async () => {
  const turns = new FairTurns();
  const order: string[] = [];
  const call = async (accountId: string): Promise<void> => {
    await turns.next(accountId);
    order.push(accountId);
  };
  await Promise.all(["many", "many", "many", "many", "other", "third", "other"].map(call));
  assert.deepEqual(order, ["many", "many", "other", "third", "many", "other", "many"]);
});
