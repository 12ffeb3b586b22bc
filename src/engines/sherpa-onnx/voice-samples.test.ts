import assert from "node:assert/strict";
import { test } from "node:test";
import { voiceSamples } from "./voice-samples.ts";

const turn = (speaker: number, startMs: number, endMs: number) => ({ speaker, startMs, endMs });

test("voiceSamples() returns spans without other speakers, the longest first", () => {
  const turns = [turn(0, 0, 3000), turn(1, 2000, 6000), turn(0, 7000, 12_000), turn(1, 8000, 8400)];
  assert.deepEqual(voiceSamples(turns, 0), [
    [8400, 12_000],
    [0, 2000],
    [7000, 8000],
  ]);
  assert.deepEqual(voiceSamples(turns, 1), [[3000, 6000]]);
});

test("voiceSamples() returns parts of at most 10 seconds, and at most 30 seconds in total", () => {
  assert.deepEqual(voiceSamples([turn(0, 0, 15_000), turn(0, 20_000, 60_000)], 0), [
    [20_000, 30_000],
    [30_000, 40_000],
    [40_000, 50_000],
  ]);
  assert.deepEqual(voiceSamples([turn(0, 0, 15_000)], 0), [
    [0, 7500],
    [7500, 15_000],
  ]);
});

test("voiceSamples() returns a short span only if all spans are short", () => {
  assert.deepEqual(voiceSamples([turn(0, 0, 500), turn(0, 900, 1600)], 0), [[900, 1600]]);
  assert.deepEqual(voiceSamples([turn(0, 0, 200)], 0), []);
  assert.deepEqual(voiceSamples([turn(1, 0, 2000)], 0), []);
});
