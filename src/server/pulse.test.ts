import assert from "node:assert/strict";
import { test } from "node:test";
import { Pulse } from "./pulse.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("Pulse does work with this turn of the event loop when nothing was done for a while", async () => {
  const pulse = new Pulse(60_000);
  const ran: string[] = [];
  pulse.add({ run: () => ran.push("a") });
  pulse.add({ run: () => ran.push("b") });
  assert.deepEqual(ran, []);
  await turn();
  assert.deepEqual(ran, ["a", "b"]);
});

test("Pulse lets what comes soon after wait for the next beat, or until there is much of it", async () => {
  const pulse = new Pulse(20);
  const ran: number[] = [];
  pulse.add({ run: () => ran.push(0) });
  await turn();
  const from = performance.now();
  const beaten = new Promise<void>((resolve) => {
    pulse.add({
      run() {
        ran.push(1);
        resolve();
      },
    });
  });
  await turn();
  assert.deepEqual(ran, [0]);
  await beaten;
  assert.ok(performance.now() - from > 10);
  for (let work = 2; work < 40; work += 1) pulse.add({ run: () => ran.push(work) });
  await turn();
  assert.deepEqual(
    ran,
    Array.from({ length: 40 }, (_, at) => at),
  );
});
