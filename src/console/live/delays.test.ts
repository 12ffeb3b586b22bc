import assert from "node:assert/strict";
import { test } from "node:test";
import { Delays } from "./delays.ts";

const word = (text: string, endMs: number) => ({ text, startMs: endMs - 100, endMs });

/** Returns delays with 2 s of audio in chunks of 100 ms, captured from the time 10,000 ms on. */
function captured(): Delays {
  const delays = new Delays();
  for (let ms = 100; ms <= 2000; ms += 100) delays.captured(ms, 10_000 + ms);
  return delays;
}

test("a word's delay is the time from its last sample until it is shown in its final form", () => {
  const delays = captured();
  delays.shown([word("góðan", 500)], false, 10_800);
  // At first, the second word is a different word.
  delays.shown([word("góðan", 500), word("dag", 900)], false, 11_000);
  delays.shown([word("góðan", 500), word("daginn", 900)], false, 11_400);
  assert.equal(delays.word, undefined);
  delays.shown([word("Góðan", 500), word("daginn.", 950)], true, 11_600);
  // The delays are 10,800 - 10,500 and 11,400 - 10,950.
  assert.deepEqual(delays.word, { medianMs: 300, mostMs: 450 });
  assert.deepEqual(delays.sentence, { medianMs: 650, mostMs: 650 });
});

test("a word shown before its end has no delay, and a word that ends after the last chunk also has a delay", () => {
  const delays = captured();
  delays.shown([word("já", 500)], false, 10_400);
  delays.shown([word("já", 500), word("nei", 2001)], true, 12_101);
  assert.deepEqual(delays.word, { medianMs: 0, mostMs: 100 });
});

test("words that were never shown, or whose capture times were dropped, are not counted", () => {
  const delays = captured();
  delays.captured(3000, 10_000 + 11 * 60_000);
  delays.shown([word("já", 500)], true, 20_000);
  assert.equal(delays.word, undefined);
  assert.equal(new Delays().sentence, undefined);
});

test("the delays are the median and the 95th percentile", () => {
  const delays = new Delays();
  delays.captured(1000, 1000);
  for (let ms = 1; ms <= 100; ms++) delays.shown([word("a", 1000)], true, 1000 + ms);
  assert.deepEqual(delays.word, { medianMs: 50, mostMs: 95 });
});

test("words that arrived are counted once the page has shown them, unless it was not visible", () => {
  const delays = captured();
  delays.arrived([word("já", 500)], false);
  assert.equal(delays.allShown(10_600), false, "nothing is final");
  delays.arrived([word("já", 500)], true);
  assert.equal(delays.allShown(undefined), false);
  assert.equal(delays.allShown(10_900), false, "they have been shown");
  assert.equal(delays.word, undefined);
  delays.arrived([word("já", 500)], true);
  assert.equal(delays.allShown(10_900), true);
  assert.deepEqual(delays.word, { medianMs: 100, mostMs: 100 });
});
