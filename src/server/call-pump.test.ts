import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { CallPump } from "./call-pump.ts";

function openPump() {
  const pump = new CallPump();
  const begun: string[] = [];
  const add = (caller: string, isGone = false): void => {
    pump.add({
      caller: () => caller,
      isGone: () => isGone,
      begin: () => void begun.push(caller),
    });
  };
  return { begun, add };
}

test("CallPump starts a call immediately while few arrive", async () => {
  const { begun, add } = openPump();
  for (let n = 1; n <= 3; n += 1) {
    add("a");
    assert.equal(begun.length, n);
    await turn();
  }
});

test("CallPump starts at most 32 calls in one turn of the event loop, and callers take turns", async () => {
  const { begun, add } = openPump();
  for (let n = 0; n < 100; n += 1) add("many");
  add("one");
  assert.ok(begun.length <= 32, `${begun.length} were started in one turn`);
  const [first] = [begun.length];
  await turn();
  // "many" has waited longer than "one", so one of its calls comes first.
  assert.equal(begun.indexOf("one"), first + 1);
  while (begun.length < 101) {
    const before = begun.length;
    await turn();
    assert.ok(begun.length - before <= 32);
  }
});

test("CallPump lets other events run between calls that take a long time to start", async () => {
  const pump = new CallPump();
  let begun = 0;
  for (let n = 0; n < 4; n += 1) {
    pump.add({
      caller: () => "a",
      isGone: () => false,
      begin: () => {
        begun += 1;
        for (const end = performance.now() + 9; performance.now() < end;);
      },
    });
  }
  for (let n = 1; n <= 4; n += 1) {
    assert.equal(begun, n);
    await turn();
  }
});

test("CallPump does not start a call that was cancelled while waiting", async () => {
  const { begun, add } = openPump();
  for (let n = 0; n < 32; n += 1) add("a");
  for (let n = 0; n < 200; n += 1) add("b", true);
  add("c");
  while (!begun.includes("c")) await turn();
  assert.ok(!begun.includes("b"));
});
