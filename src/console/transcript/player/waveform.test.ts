import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, peaksOf } from "./waveform.ts";

test("peaksOf() returns the magnitude of the sample that is farthest from silence in each step", () => {
  assert.deepEqual([...peaksOf([0, 0, -3, 9, -100, 40, -128, 127])], [0, 9, 100, 127]);
});

test("barsOf() makes each bar as high as its loudest peak, for any number of bars", () => {
  const waveform = { peaks: Uint8Array.from([0, 10, 20, 5, 0, 40, 1, 2]) };
  assert.deepEqual(barsOf(waveform, 4), [0.25, 0.5, 1, 0.05]);
  assert.deepEqual(barsOf(waveform, 16).length, 16);
  assert.equal(Math.max(...barsOf(waveform, 3)), 1);
  // The bars of silence have height 0, and so do the bars of a waveform without peaks.
  assert.deepEqual(barsOf({ peaks: new Uint8Array(4) }, 2), [0, 0]);
  assert.deepEqual(barsOf({ peaks: new Uint8Array(0) }, 2), [0, 0]);
});
