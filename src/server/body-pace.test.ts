import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyPace } from "./body-pace.ts";

let now = 0;
const open = () => new BodyPace({ idleMsMax: 1_000, bytesPerSecondMin: 100 }, () => now);

test("BodyPace gives up a stalled body", () => {
  const pace = open();
  assert.equal(pace.leftMs(), 1_000);
  now += 400;
  assert.equal(pace.leftMs(), 600);
  pace.add(1_000_000);
  assert.equal(pace.leftMs(), 1_000);
  now += 1_000;
  assert.equal(pace.leftMs(), 0);
  assert.match(pace.failure().message, /^the body stalled for 1 s$/);
});

test("BodyPace reports a body that stalls after a late byte as stalled", () => {
  const pace = new BodyPace({ idleMsMax: 4_000, bytesPerSecondMin: 1_000 }, () => now);
  now += 100;
  pace.add(1);
  now += 3_901;
  assert.equal(pace.leftMs(), 0);
  assert.match(pace.failure().message, /^the body stalled for 4 s$/);
});

test("BodyPace gives up only bodies that arrive too slowly", () => {
  const slow = open();
  let seconds = 0;
  for (; slow.leftMs() > 0 && seconds < 100; seconds += 1) {
    now += 500;
    slow.add(25);
    now += 500;
    slow.add(25);
  }
  assert.equal(seconds, 2, "one second, and half a second for each second of data");
  assert.match(slow.failure().message, /^the body arrived more slowly than 100 bytes a second$/);

  const steady = open();
  for (let at = 0; at < 1_000; at += 1) {
    now += 500;
    steady.add(50);
    assert.ok(steady.leftMs() > 0);
  }
});

test("BodyPace does not count time in which the body is not being read", () => {
  const pace = open();
  for (let at = 0; at < 1_000; at += 1) {
    now += 10;
    pace.add(2);
    now += 5_000;
    pace.wait();
    assert.ok(pace.leftMs() > 0);
  }
});
