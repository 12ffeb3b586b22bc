import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { unstalled } from "./unstalled.ts";

const limits = { stallMs: 20, stallBytesMin: 100 };

test("unstalled() does not count time in which the consumer is busy", async () => {
  const taken = [];
  for await (const chunk of unstalled(
    Readable.from([1, 2, 3].map(() => Buffer.alloc(1))),
    limits,
  )) {
    await sleep(60);
    taken.push(chunk.length);
  }
  assert.deepEqual(taken, [1, 1, 1]);
});

test("unstalled() aborts a transfer that stalls at the start or after a fast beginning", async () => {
  for (const first of [0, 1000]) {
    const body = new PassThrough();
    if (first > 0) body.write(Buffer.alloc(first));
    let bytes = 0;
    const all = async (): Promise<void> => {
      for await (const chunk of unstalled(body, limits)) bytes += chunk.length;
    };
    await assert.rejects(all(), /more slowly than 5000 bytes a second for 0.02 s/);
    assert.equal(bytes, first);
    assert.ok(body.destroyed);
  }
});
