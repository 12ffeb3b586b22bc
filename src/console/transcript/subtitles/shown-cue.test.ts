import assert from "node:assert/strict";
import { test } from "node:test";
import { cueAt, lastCueAt } from "./shown-cue.ts";

const cue = (startMs: number, endMs: number) => ({
  startMs,
  endMs,
  speakerId: "",
  lines: ["a"],
  chars: 1,
});
const cues = [cue(1_000, 2_000), cue(2_000, 3_500), cue(9_000, 9_100)];

test("cueAt() finds the cue that is shown, and lastCueAt() the last one that began", () => {
  const rows: [ms: number, shown: number | undefined, last: number][] = [
    [0, undefined, -1],
    [997, undefined, -1],
    // A player may report a time slightly before the requested one.
    [998, 0, 0],
    [1_500, 0, 0],
    [2_000, 1, 1],
    [3_499, 1, 1],
    [3_500, undefined, 1],
    [9_050, 2, 2],
    [1e9, undefined, 2],
  ];
  for (const [ms, shown, last] of rows) {
    assert.deepEqual([cueAt(cues, ms), lastCueAt(cues, ms)], [shown, last], `${ms} ms`);
  }
  assert.deepEqual([cueAt([], 5), lastCueAt([], 5)], [undefined, -1]);
});
