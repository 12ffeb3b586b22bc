import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/fixtures/cpu-time.ts";
import { joinSpeakers, type SpeakerWindow } from "./speakers.ts";

/** A voice: the angle of its embedding, its seconds, and the starts of its turns of one second. */
type Voice = readonly [degrees: number, seconds: number, ...startsMs: number[]];

function window(startMs: number, ...voices: readonly Voice[]): SpeakerWindow {
  return {
    startMs,
    speakers: voices.map(([degrees, seconds], speaker) => {
      const angle = (degrees * Math.PI) / 180;
      // Only the direction counts.
      const length = 1 + speaker;
      const embedding = Float32Array.of(length * Math.cos(angle), length * Math.sin(angle));
      return { speaker, embedding, seconds };
    }),
    turns: voices.flatMap(([, , ...starts], speaker) =>
      starts.map((startMs) => ({ speaker, startMs, endMs: startMs + 1000 })),
    ),
  };
}

function turnsOf(...given: Parameters<typeof joinSpeakers>): string {
  return joinSpeakers(...given)
    .map(({ speaker, startMs, endMs }) => `${speaker} ${startMs}-${endMs}`)
    .join(", ");
}

test("joinSpeakers() recognizes voices across windows, and numbers them in the order of their first turns", () => {
  const windows = [
    window(0, [80, 10, 5000], [0, 10, 1000, 9000]),
    window(60_000, [10, 10, 2000], [90, 10, 500]),
  ];
  assert.equal(
    turnsOf(windows),
    "1 1000-2000, 2 5000-6000, 1 9000-10000, 2 60500-61500, 1 62000-63000",
  );
});

test("joinSpeakers() never joins two voices of one window, however alike", () => {
  assert.equal(turnsOf([window(0, [0, 9, 0], [1, 9, 5000])]), "1 0-1000, 2 5000-6000");
  const windows = [window(0, [0, 9, 0], [20, 9, 5000]), window(9000, [19, 9, 0], [21, 9, 5000])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 5000-6000, 2 9000-10000, 1 14000-15000");
});

test("joinSpeakers() joins only voices that are alike enough, the most alike first", () => {
  const windows = [window(0, [0, 9, 0]), window(9000, [50, 9, 0]), window(18_000, [90, 9, 0])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 9000-10000, 2 18000-19000");
  assert.equal(turnsOf(windows, { likenessMin: 0.9 }), "1 0-1000, 2 9000-10000, 3 18000-19000");
  assert.equal(turnsOf(windows, { likenessMin: 0.1 }), "1 0-1000, 1 9000-10000, 1 18000-19000");
});

test("joinSpeakers() weighs voices by how long they speak", () => {
  const short = [window(0, [0, 1, 0]), window(9000, [50, 20, 0]), window(18_000, [105, 20, 0])];
  assert.equal(turnsOf(short), "1 0-1000, 1 9000-10000, 1 18000-19000");
  const long = [window(0, [0, 20, 0]), window(9000, [50, 20, 0]), window(18_000, [105, 20, 0])];
  assert.equal(turnsOf(long), "1 0-1000, 1 9000-10000, 2 18000-19000");
});

test("joinSpeakers() finds at most speakersMax speakers", () => {
  const windows = [window(0, [0, 9, 0], [120, 9, 2000]), window(9000, [200, 9, 0])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 2000-3000, 3 9000-10000");
  assert.equal(turnsOf(windows, { speakersMax: 2 }), "1 0-1000, 2 2000-3000, 2 9000-10000");
  assert.equal(turnsOf(windows, { speakersMax: 1 }), "1 0-1000, 1 2000-3000, 1 9000-10000");
});

test("joinSpeakers() continues a turn over the end of a window, and leaves out unknown voices", () => {
  const first = window(0, [0, 9, 8900], [90, 9, 8950]);
  const second = window(9900, [0, 9, 100]);
  const unknown = { speaker: 7, startMs: 3000, endMs: 4000 };
  const windows = [first, { ...second, turns: [...second.turns, unknown] }];
  assert.equal(turnsOf(windows), "1 8900-11000, 2 8950-9950");
  assert.equal(turnsOf([]), "");
});

test("joinSpeakers() takes less than 5 s for a long recording of many speakers", () => {
  const windows = Array.from({ length: 100 }, (_, at) => {
    const voices = Array.from({ length: 8 }, (_, n): Voice => [n * 45 + (at % 7), 9, n * 2000]);
    return window(at * 300_000, ...voices);
  });
  const start = cpuMs();
  const turns = joinSpeakers(windows, { likenessMin: 0.9 });
  assert.equal(new Set(turns.map(({ speaker }) => speaker)).size, 8);
  assert.equal(turns.length, 800);
  assert.ok(cpuMs() - start < 5000, `${cpuMs() - start} ms`);
});

test("joinSpeakers() joins the voices of 8 hours in less than 2 s, since it delays streams", () => {
  const numbers = fc.sample(fc.double({ min: -1, max: 1, noNaN: true }), {
    seed: 1,
    numRuns: 4 * 192,
  });
  const windows = Array.from({ length: 96 }, (_, index): SpeakerWindow => ({
    startMs: index * 300_000,
    speakers: Array.from({ length: 4 }, (_, speaker) => ({
      speaker,
      seconds: 10 + index,
      embedding: Float32Array.from(
        { length: 192 },
        (_, at) =>
          (numbers[speaker * 192 + at] ?? 0) + 0.3 * (numbers[(7 * index + at) % 700] ?? 0),
      ),
    })),
    turns: Array.from({ length: 4 }, (_, speaker) => ({
      speaker,
      startMs: 60_000 * speaker,
      endMs: 60_000 * speaker + 1000,
    })),
  }));
  const startMs = cpuMs();
  const turns = joinSpeakers(windows);
  assert.ok(cpuMs() - startMs < 2000);
  assert.deepEqual(
    turns.map(({ speaker }) => speaker),
    windows.flatMap(() => ["1", "2", "3", "4"]),
  );
});
