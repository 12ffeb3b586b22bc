import assert from "node:assert/strict";
import { test } from "node:test";
import { TransferSpeed } from "./transfer-speed.ts";

test("the speed is measured over the last 8 s, and is undefined during the first second", () => {
  const speed = new TransferSpeed();
  speed.note(0, 0);
  speed.note(500, 500);
  assert.equal(speed.bytesPerSecond(), undefined);
  speed.note(1_000, 1_000);
  assert.equal(speed.bytesPerSecond(), 1_000);
  // After ten seconds at ten times the speed, the first second no longer counts.
  for (let second = 2; second <= 12; second++)
    speed.note(1_000 + (second - 1) * 10_000, second * 1000);
  assert.equal(speed.bytesPerSecond(), 10_000);
});

test("a transfer that restarted or stalled has no speed", () => {
  const speed = new TransferSpeed();
  speed.note(0, 0);
  speed.note(9_000, 2_000);
  speed.note(0, 3_000);
  assert.equal(speed.bytesPerSecond(), undefined);
  speed.note(0, 9_000);
  assert.equal(speed.bytesPerSecond(), undefined);
});
