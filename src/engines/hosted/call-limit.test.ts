import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { CallLimit } from "./call-limit.ts";

const { signal: never } = new AbortController();

test("calls beyond the limit wait for their turn: live before short before job", async () => {
  const limit = new CallLimit(() => 1);
  const order: string[] = [];
  const first = await limit.take("job", never);
  const waiting = (["job", "short", "live", "job"] as const).map(async (mode) => {
    const release = await limit.take(mode, never);
    order.push(mode);
    release();
    // A call ends only once.
    release();
  });
  first();
  await Promise.all(waiting);
  assert.deepEqual(order, ["live", "short", "job", "job"]);
});

test("a call that is left while it waits takes no place", async () => {
  const limit = new CallLimit(() => 1);
  const first = await limit.take("live", never);
  const leaving = new AbortController();
  const left = limit.take("live", leaving.signal);
  const next = limit.take("job", never);
  leaving.abort(new Error("left"));
  await assert.rejects(left, /left/);
  first();
  (await next)();
  await limit.take("job", never);
});

test("a limit that falls holds for the calls that wait", async () => {
  let callsMax = 2;
  const limit = new CallLimit(() => callsMax);
  const [first, second] = [await limit.take("job", never), await limit.take("job", never)];
  let isTaken = false;
  const next = limit.take("live", never).then((release) => {
    isTaken = true;
    return release;
  });
  callsMax = 1;
  first();
  await turn();
  assert.equal(isTaken, false);
  second();
  (await next)();
});
