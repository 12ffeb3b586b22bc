import assert from "node:assert/strict";
import { test } from "node:test";
import { Loudness } from "./loudness.ts";

const silence = new Int16Array(100);
const speech = new Int16Array(100).fill(8_000);

test("the loudness of each chunk is passed on, and silence warns after five seconds", () => {
  const loudness = new Loudness();
  const sounding: boolean[] = [];
  const stop = loudness.subscribe((value) => sounding.push(value > 0));
  assert.equal(loudness.measure(silence, 4.9), false);
  assert.equal(loudness.measure(silence, 5), true);
  assert.equal(loudness.measure(speech, 6), false);
  assert.equal(loudness.measure(silence, 10.9), false);
  assert.equal(loudness.measure(silence, 11), true);
  // A recording that is continued was not silent where it ends.
  loudness.startAt(60);
  assert.equal(loudness.measure(silence, 64), false);
  stop();
  loudness.measure(speech, 66);
  assert.deepEqual(sounding, [false, false, true, false, false, false]);
});
