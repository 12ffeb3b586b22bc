import assert from "node:assert/strict";
import { test } from "node:test";
import {
  finalized,
  nothingSpoken,
  sharedTimes,
  type SpokenWord,
  textOf,
  withFinal,
  withInterim,
  withoutLast,
} from "./spoken.ts";

/** Returns `count` words of 100 ms each. */
const words = (count: number, startMs = 0): SpokenWord[] =>
  Array.from({ length: count }, (_, at) => ({
    text: `w${at}`,
    startMs: startMs + 100 * at,
    endMs: startMs + 100 * (at + 1),
  }));

test("withFinal() appends words, and reuses the objects of earlier utterances", () => {
  const one = withFinal(withInterim(nothingSpoken, words(2)), words(2));
  assert.deepEqual(one, { paragraphs: [[{ id: 1, words: words(2) }]], interim: [] });
  const two = withFinal(one, words(1, 500));
  assert.deepEqual(
    two.paragraphs.flat().map(({ id }) => id),
    [1, 2],
  );
  assert.equal(two.paragraphs[0]?.[0], one.paragraphs[0]?.[0]);
  assert.deepEqual(withFinal(one, []), one);
});

test("withFinal() puts word times in order if streams overlap", () => {
  const spoken = withFinal(withFinal(nothingSpoken, words(3)), words(3, 150));
  const times = spoken.paragraphs.flat().flatMap(({ words }) => words);
  assert.deepEqual(
    times.map(({ startMs, endMs }) => [startMs, endMs]),
    [0, 100, 200, 300, 300, 350].map((start, at) => [start, [100, 200, 300, 300, 350, 450][at]]),
  );
});

test("withFinal() begins a paragraph after a long pause, or when the last paragraph is long", () => {
  const rows: readonly [count: number, pauseMs: number, paragraphs: number][] = [
    [59, 9000, 1],
    [60, 1499, 1],
    [60, 1500, 2],
    [249, 0, 1],
    [250, 0, 2],
  ];
  for (const [count, pauseMs, paragraphs] of rows) {
    const first = withFinal(nothingSpoken, words(count));
    const both = withFinal(first, words(1, 100 * count + pauseMs));
    assert.equal(both.paragraphs.length, paragraphs, `${count} words, ${pauseMs} ms`);
  }
});

test("withoutLast() removes only the last final result", () => {
  const one = withFinal(nothingSpoken, words(250));
  const two = withFinal(one, words(1, 30_000));
  assert.deepEqual(withoutLast(two), one);
  assert.deepEqual(withoutLast(one), nothingSpoken);
  assert.deepEqual(withoutLast(nothingSpoken), nothingSpoken);
});

test("finalized() treats the interim words as final", () => {
  const spoken = finalized(withInterim(withFinal(nothingSpoken, words(1)), words(1, 100)));
  assert.deepEqual(spoken.paragraphs.flat().length, 2);
  assert.deepEqual(spoken.interim, []);
});

test("sharedTimes() divides the time among words in proportion to their length, and marks them", () => {
  assert.deepEqual(sharedTimes(" já  góðan ", 1000, 1700), [
    { text: "já", startMs: 1000, endMs: 1200, estimatedTimes: true },
    { text: "góðan", startMs: 1200, endMs: 1700, estimatedTimes: true },
  ]);
  assert.deepEqual(sharedTimes(" ", 0, 100), []);
  assert.equal(textOf(sharedTimes("a b", 0, 2)), "a b");
});
