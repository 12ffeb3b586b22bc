import assert from "node:assert/strict";
import { test } from "node:test";
import { PeekableInput } from "./peekable-input.ts";
import type { RecognitionInput } from "../protocol/recognizer.ts";

const chunk = (value: number) => Int16Array.of(value, value);

test("PeekableInput returns the same item until it is taken, and does not read ahead", async () => {
  let read = 0;
  async function* source() {
    for (let value = 1; value <= 2; value++) {
      read += 1;
      yield chunk(value);
    }
  }
  const input = new PeekableInput(source());
  assert.equal(read, 0, "nothing is read before the first peek()");
  assert.deepEqual(await Promise.all([input.peek(), input.peek()]), [chunk(1), chunk(1)]);
  assert.equal(read, 1);
  input.take();
  assert.equal(read, 1);
  assert.deepEqual(await input.peek(), chunk(2));
  input.take();
  for (let count = 0; count < 2; count++) {
    assert.equal(await input.peek(), undefined);
    input.take();
  }
});

test("PeekableInput closes its source without waiting for a pending read", async () => {
  let ended = 0;
  async function* source(): AsyncGenerator<RecognitionInput> {
    try {
      yield chunk(1);
      await new Promise(() => {});
    } finally {
      ended += 1;
    }
  }
  const idle = new PeekableInput(source());
  await idle.peek();
  await idle.close();
  await idle.close();
  assert.equal(ended, 1);
  const waiting = new PeekableInput(source());
  await waiting.peek();
  waiting.take();
  void waiting.peek();
  await waiting.close();
});

test("PeekableInput throws the error of its source at each peek()", async () => {
  function* source(): Generator<RecognitionInput> {
    yield chunk(1);
    throw new Error("no more");
  }
  const input = new PeekableInput(source());
  assert.deepEqual(await input.peek(), chunk(1));
  input.take();
  await assert.rejects(input.peek(), /no more/);
  await assert.rejects(input.peek(), /no more/);
  await input.close();
});
