import assert from "node:assert/strict";
import { test } from "node:test";
import { unlessAborted, untilAborted } from "./until-aborted.ts";

/** Counts up to a number. Calls `cleaned` when its finally block has run. */
async function* counting(to: number, cleaned: () => void): AsyncGenerator<number> {
  try {
    for (let n = 0; n < to; n += 1) yield n;
  } finally {
    cleaned();
  }
}

test("untilAborted() yields every response", async () => {
  const { signal } = new AbortController();
  let cleaned = 0;
  const answers = counting(3, () => (cleaned += 1));
  assert.deepEqual(await Array.fromAsync(untilAborted(answers, signal)), [0, 1, 2]);
  assert.equal(cleaned, 1);
});

test("untilAborted() ends the method when its reader stops", async () => {
  const { signal } = new AbortController();
  let cleaned = 0;
  for await (const n of untilAborted(
    counting(3, () => (cleaned += 1)),
    signal,
  )) {
    if (n === 1) break;
  }
  assert.equal(cleaned, 1);
});

test("untilAborted() throws the method's error", async () => {
  const { signal } = new AbortController();
  const answers = (async function* () {
    yield await Promise.resolve(1);
    throw new Error("broken");
  })();
  await assert.rejects(Array.fromAsync(untilAborted(answers, signal)), /broken/);
});

test("untilAborted() throws the reason immediately, even if the method ignores the signal", async () => {
  const controller = new AbortController();
  const never = (async function* () {
    yield 1;
    await new Promise(() => {});
  })();
  const seen: number[] = [];
  const reading = (async () => {
    for await (const n of untilAborted(never, controller.signal)) {
      seen.push(n);
      setImmediate(() => {
        controller.abort(new Error("enough"));
      });
    }
  })();
  await assert.rejects(reading, /enough/);
  assert.deepEqual(seen, [1]);
  const late = untilAborted(
    counting(3, () => {}),
    controller.signal,
  );
  await assert.rejects(Array.fromAsync(late), /enough/);
});

test("unlessAborted() settles with the response, its error or the signal's reason, whichever comes first", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  assert.equal(await unlessAborted(Promise.resolve(1), signal), 1);
  await assert.rejects(unlessAborted(Promise.reject(new Error("broken")), signal), /broken/);
  const waiting = unlessAborted(new Promise(() => {}), signal);
  controller.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await assert.rejects(unlessAborted(new Promise(() => {}), signal), /enough/);
});
