import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecognitionInput } from "./recognizer.ts";
import { ReplayableInput } from "./replayable-input.ts";

const chunk = (value: number) => Int16Array.of(value, value);

test("ReplayableInput gives each item as often as it is asked for, and reads it once", async () => {
  let read = 0;
  async function* source() {
    for (let value = 1; value <= 3; value++) {
      read += 1;
      yield chunk(value);
    }
  }
  const input = new ReplayableInput(source(), 100);
  assert.equal(read, 0, "nothing is read before it is wanted");
  assert.deepEqual(await Promise.all([input.at(1), input.at(0), input.at(1)]), [
    chunk(2),
    chunk(1),
    chunk(2),
  ]);
  assert.equal(read, 2);
  assert.deepEqual(await input.at(2), chunk(3));
  assert.equal(await input.at(3), undefined);
  assert.deepEqual(await input.at(0), chunk(1));
  assert.ok(input.isWhole);
});

test("ReplayableInput keeps no more than it may", async () => {
  const input = new ReplayableInput(
    Array.from({ length: 1000 }, (_, index) => chunk(index)),
    20,
  );
  for (let index = 0; index < 1000; index++) {
    assert.deepEqual(await input.at(index), chunk(index));
    assert.equal(input.isWhole, index < 10);
  }
});

test("ReplayableInput ends its source, and does not wait for one that waits itself", async () => {
  let ended = 0;
  async function* source(): AsyncGenerator<RecognitionInput> {
    try {
      yield chunk(1);
      await new Promise(() => {});
    } finally {
      ended += 1;
    }
  }
  const resting = new ReplayableInput(source(), 100);
  await resting.at(0);
  await resting.close();
  assert.equal(ended, 1);
  const waiting = new ReplayableInput(source(), 100);
  await waiting.at(0);
  void waiting.at(1);
  await waiting.close();
});

test("ReplayableInput throws what its source throws", async () => {
  function* source(): Generator<RecognitionInput> {
    yield chunk(1);
    throw new Error("no more");
  }
  const input = new ReplayableInput(source(), 100);
  assert.deepEqual(await input.at(0), chunk(1));
  await assert.rejects(input.at(1), /no more/);
});
