import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Found, placeWords, type Section } from "./place-words.ts";

const word = (startMs: number, endMs: number) => ({ startMs, endMs, score: 0.9 });

/** The times of the words as "start-end", for a window of 2 s and words of equal length. */
function place(words: Found["words"], sounds: readonly (readonly [number, number])[] = []) {
  const times = placeWords({
    words,
    weights: words.map(() => 5),
    sounds: sounds.map(([startMs, endMs]) => ({ startMs, endMs })),
    windowMs: 2000,
  });
  return times.map(({ startMs, endMs }) => `${startMs}-${endMs}`);
}

test("words that were found keep their times, and never overlap", () => {
  assert.deepEqual(place([word(100, 300), word(500, 700)]), ["100-300", "500-700"]);
  assert.deepEqual(place([word(100, 600), word(500, 700)]), ["100-500", "500-700"]);
  assert.deepEqual(place([word(-80, 600), word(1500, 2100)]), ["0-600", "1500-2000"]);
});

test("words that were not found share the sound between their neighbors", () => {
  const [one, other] = [word(100, 300), word(1500, 1700)];
  assert.deepEqual(place([one, undefined, other], [[600, 900]]), [
    "100-300",
    "600-900",
    "1500-1700",
  ]);
  assert.deepEqual(place([one, undefined, undefined, other], [[600, 1000]]), [
    "100-300",
    "600-800",
    "800-1000",
    "1500-1700",
  ]);
  assert.deepEqual(
    place(
      [one, undefined, undefined, other],
      [
        [400, 600],
        [1000, 1200],
      ],
    ),
    ["100-300", "400-600", "1000-1200", "1500-1700"],
  );
  assert.deepEqual(
    place(
      [undefined, other],
      [
        [1000, 1200],
        [1800, 1900],
      ],
    ),
    ["1000-1200", "1500-1700"],
  );
  assert.deepEqual(
    place(
      [one, undefined],
      [
        [150, 250],
        [1800, 1900],
      ],
    ),
    ["100-150", "150-1900"],
  );
});

test("words without any sound follow the word before them", () => {
  const [one, other] = [word(100, 300), word(1500, 1700)];
  assert.deepEqual(place([one, undefined, other]), ["100-300", "300-600", "1500-1700"]);
  assert.deepEqual(place([one, undefined, word(350, 500)]), ["100-300", "300-350", "350-500"]);
  assert.deepEqual(place([undefined, undefined]), ["0-300", "300-600"]);
  assert.deepEqual(place([]), []);
});

/** Returns the sections in order, each without what the sections before it have. */
function disjoint(sections: readonly Section[]): Section[] {
  let lastMs = -Infinity;
  const inOrder = sections.toSorted((one, other) => one.startMs - other.startMs);
  return inOrder.flatMap(({ startMs, endMs }) => {
    const from = Math.max(startMs, lastMs);
    lastMs = Math.max(lastMs, endMs);
    return from < endMs ? [{ startMs: from, endMs }] : [];
  });
}

test("the times of any words are in order and within the window, one for each word", () => {
  const time = fc.double({ min: -500, max: 2500, noNaN: true });
  const section = fc.tuple(time, time).map(([a, b]) => ({
    startMs: Math.min(a, b),
    endMs: Math.max(a, b),
  }));
  const found = fc.option(
    section.map((each) => ({ ...each, score: 0.5 })),
    { nil: undefined },
  );
  const words = fc.array(fc.record({ found, weight: fc.nat({ max: 20 }) }), { maxLength: 12 });
  fc.assert(
    fc.property(words, fc.array(section, { maxLength: 6 }), (all, sounds) => {
      const times = placeWords({
        words: all.map((each) => each.found),
        weights: all.map(({ weight }) => weight),
        sounds: disjoint(sounds),
        windowMs: 2000,
      });
      assert.equal(times.length, all.length);
      let lastMs = 0;
      for (const { startMs, endMs } of times) {
        assert.ok(Number.isInteger(startMs) && Number.isInteger(endMs));
        assert.ok(startMs >= lastMs && endMs >= startMs && endMs <= 2000, JSON.stringify(times));
        lastMs = startMs;
      }
    }),
  );
});
