import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/fixtures/cpu-time.ts";
import { joinSpeakers, type SpeakerWindow } from "./speakers.ts";

/**
 * A voice: the angle of its embedding, its duration in seconds, and the starts of its turns of one
 * second.
 */
type Voice = readonly [degrees: number, seconds: number, ...startsMs: number[]];

function window(startMs: number, ...voices: readonly Voice[]): SpeakerWindow {
  return {
    startMs,
    speakers: voices.map(([degrees, seconds], speaker) => {
      const angle = (degrees * Math.PI) / 180;
      // Only the direction of an embedding counts.
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

test("joinSpeakers() recognizes voices across windows, and numbers speakers in the order of their first turns", () => {
  const windows = [
    window(0, [80, 10, 5000], [0, 10, 1000, 9000]),
    window(60_000, [10, 10, 2000], [90, 10, 500]),
  ];
  assert.equal(
    turnsOf(windows),
    "1 1000-2000, 2 5000-6000, 1 9000-10000, 2 60500-61500, 1 62000-63000",
  );
});

test("joinSpeakers() never joins two voices of one window, however similar", () => {
  assert.equal(turnsOf([window(0, [0, 9, 0], [1, 9, 5000])]), "1 0-1000, 2 5000-6000");
  const windows = [window(0, [0, 9, 0], [20, 9, 5000]), window(9000, [19, 9, 0], [21, 9, 5000])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 5000-6000, 2 9000-10000, 1 14000-15000");
});

test("joinSpeakers() joins only voices that are similar enough, the most similar first", () => {
  const windows = [window(0, [0, 9, 0]), window(9000, [50, 9, 0]), window(18_000, [90, 9, 0])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 9000-10000, 2 18000-19000");
  assert.equal(turnsOf(windows, { likenessMin: 0.9 }), "1 0-1000, 2 9000-10000, 3 18000-19000");
  assert.equal(turnsOf(windows, { likenessMin: 0.1 }), "1 0-1000, 1 9000-10000, 1 18000-19000");
});

test("joinSpeakers() weights voices by how long they speak", () => {
  const short = [window(0, [0, 1, 0]), window(9000, [50, 20, 0]), window(18_000, [105, 20, 0])];
  assert.equal(turnsOf(short), "1 0-1000, 1 9000-10000, 1 18000-19000");
  const long = [window(0, [0, 20, 0]), window(9000, [50, 20, 0]), window(18_000, [105, 20, 0])];
  assert.equal(turnsOf(long), "1 0-1000, 1 9000-10000, 2 18000-19000");
});

test("joinSpeakers() returns at most speakersMax speakers", () => {
  const windows = [window(0, [0, 9, 0], [120, 9, 2000]), window(9000, [200, 9, 0])];
  assert.equal(turnsOf(windows), "1 0-1000, 2 2000-3000, 3 9000-10000");
  assert.equal(turnsOf(windows, { speakersMax: 2 }), "1 0-1000, 2 2000-3000, 2 9000-10000");
  assert.equal(turnsOf(windows, { speakersMax: 1 }), "1 0-1000, 1 2000-3000, 1 9000-10000");
});

test("joinSpeakers() continues a turn across the end of a window, and leaves out unknown voices", () => {
  const first = window(0, [0, 9, 8900], [90, 9, 8950]);
  const second = window(9900, [0, 9, 100]);
  const unknown = { speaker: 7, startMs: 3000, endMs: 4000 };
  const windows = [first, { ...second, turns: [...second.turns, unknown] }];
  assert.equal(turnsOf(windows), "1 8900-11000, 2 8950-9950");
  assert.equal(turnsOf([]), "");
});

test("joinSpeakers() takes at most 8 times as long for 800 voices as comparing every two of them", () => {
  const windows = Array.from({ length: 100 }, (_, at) => {
    const voices = Array.from({ length: 8 }, (_, n): Voice => [n * 45 + (at % 7), 9, n * 2000]);
    return window(at * 300_000, ...voices);
  });
  const [turns, times] = timed(800, () => joinSpeakers(windows, { likenessMin: 0.9 }));
  assert.equal(new Set(turns.map(({ speaker }) => speaker)).size, 8);
  assert.equal(turns.length, 800);
  // The usual factor is about 1.6, or 0.24 s.
  assert.ok(times <= 8, `${times} times as long`);
});

test("joinSpeakers() takes at most 15 times as long for 8 hours as comparing every two voices", () => {
  const numbers = fc.sample(fc.double({ min: -1, max: 1, noNaN: true }), {
    seed: 1,
    numRuns: 4 * embeddingLength,
  });
  const windows = Array.from({ length: 96 }, (_, index): SpeakerWindow => ({
    startMs: index * 300_000,
    speakers: Array.from({ length: 4 }, (_, speaker) => ({
      speaker,
      seconds: 10 + index,
      embedding: Float32Array.from(
        { length: embeddingLength },
        (_, at) =>
          (numbers[speaker * embeddingLength + at] ?? 0) +
          0.3 * (numbers[(7 * index + at) % 700] ?? 0),
      ),
    })),
    turns: Array.from({ length: 4 }, (_, speaker) => ({
      speaker,
      startMs: 60_000 * speaker,
      endMs: 60_000 * speaker + 1000,
    })),
  }));
  const [turns, times] = timed(96 * 4, () => joinSpeakers(windows));
  assert.deepEqual(
    turns.map(({ speaker }) => speaker),
    windows.flatMap(() => ["1", "2", "3", "4"]),
  );
  // The usual factor is about 5, or 0.2 s, during which streams are delayed.
  assert.ok(times <= 15, `${times} times as long`);
});

/** A common length for an embedding. */
const embeddingLength = 192;

/**
 * Returns the result of `work` and its CPU time, relative to the CPU time for comparing every two
 * of this many voices. Both times are the minimum of alternating rounds, so that a busy or slow
 * machine affects both.
 */
function timed<Result>(voices: number, work: () => Result): [result: Result, times: number] {
  let [result, least, plainly] = [work(), Infinity, Infinity];
  for (let round = 0; round < 3; round++) {
    const startMs = cpuMs();
    result = work();
    const betweenMs = cpuMs();
    assert.ok(compareAll(voices) > 0);
    least = Math.min(least, betweenMs - startMs);
    plainly = Math.min(plainly, cpuMs() - betweenMs);
  }
  return [result, least / plainly];
}

/** Returns the maximum dot product of any two of this many embeddings. */
function compareAll(voices: number): number {
  const embeddings = Array.from({ length: voices }, (_, voice) =>
    Float64Array.from({ length: embeddingLength }, (_, at) => (31 * voice + 17 * at) % 101),
  );
  let greatest = 0;
  for (const one of embeddings) {
    for (const other of embeddings) {
      let product = 0;
      for (let at = 0; at < embeddingLength; at++) product += (one[at] ?? 0) * (other[at] ?? 0);
      greatest = Math.max(greatest, product);
    }
  }
  return greatest;
}
