import assert from "node:assert/strict";
import { test } from "node:test";
import { compareErrors, type ErrorPair } from "./compare-errors.ts";
import { errorInterval, wordUnits } from "./error-interval.ts";
import { alignWords } from "./align-words.ts";
import { seededRandom } from "./seeded-random.ts";

const resampling = { seed: 1, samples: 2000 };

test("the interval covers the true error rate in about 95 % of the cases", () => {
  const random = seededRandom(7);
  let covered = 0;
  const trials = 300;
  for (let trial = 0; trial < trials; trial += 1) {
    // 60 recordings of 10 words, of which each is wrong with a probability of 20 %.
    const units = Array.from({ length: 60 }, () => ({
      length: 10,
      errors: Array.from({ length: 10 }, random).filter((each) => each < 0.2).length,
    }));
    const interval = errorInterval(units, { seed: trial, samples: 400 });
    if (interval && interval.low <= 0.2 && interval.high >= 0.2) covered += 1;
  }
  assert.ok(covered / trials > 0.9 && covered / trials < 0.99, `${covered} of ${trials}`);
});

test("the interval is the same for the same seed, and needs two units", () => {
  const units = [
    { length: 10, errors: 1 },
    { length: 20, errors: 9 },
    { length: 5, errors: 0 },
  ];
  assert.deepEqual(errorInterval(units, resampling), errorInterval(units, resampling));
  assert.deepEqual(errorInterval(units.slice(0, 1), resampling), undefined);
  const same = [units[0], units[0]].flatMap((unit) => unit ?? []);
  assert.deepEqual(errorInterval(same, resampling), { low: 0.1, high: 0.1 });
});

test("wordUnits() gives each word its error, and insertions to the next word or the last", () => {
  const edits = alignWords(["a", "b", "c"], ["x", "a", "y", "c", "z"]);
  const units = wordUnits(edits);
  assert.deepEqual(
    units.map(({ errors }) => errors),
    [1, 1, 1],
  );
  assert.equal(
    units.reduce((sum, { errors }) => sum + errors, 0),
    edits.filter(({ kind }) => kind !== "same").length,
  );
});

function pairs(...rows: readonly (readonly [first: number, second: number])[]): ErrorPair[] {
  return rows.map(([first, second]) => ({
    first: { length: 10, errors: first },
    second: { length: 10, errors: second },
  }));
}

test("compareErrors() finds no difference between equal systems", () => {
  const { difference, p, better, worse } = compareErrors(pairs([1, 1], [4, 4], [0, 0]), resampling);
  assert.deepEqual({ difference, p, better, worse }, { difference: 0, p: 1, better: 0, worse: 0 });
});

test("compareErrors() tries all assignments of few pairs", () => {
  // 5 recordings improve by one error each: 2 of 2^5 assignments are as extreme.
  const rows = pairs([3, 2], [3, 2], [4, 3], [1, 0], [2, 1], [2, 2]);
  const { difference, p, better, interval } = compareErrors(rows, resampling);
  assert.ok(Math.abs(difference + 5 / 60) < 1e-12);
  assert.equal(p, 2 / 32);
  assert.equal(better, 5);
  assert.ok(interval && interval.low < difference && interval.high <= -1 / 60 + 1e-12);
});

test("compareErrors() reports a small p for a large difference, and a large one for chance", () => {
  const random = seededRandom(3);
  const clear = pairs(...Array.from({ length: 50 }, () => [5, 3] as const));
  const chance = pairs(
    ...Array.from(
      { length: 50 },
      () => [Math.floor(5 * random()), Math.floor(5 * random())] as const,
    ),
  );
  assert.ok((compareErrors(clear, resampling).p ?? 1) < 0.001);
  assert.ok((compareErrors(chance, resampling).p ?? 0) > 0.05);
  assert.equal(compareErrors(clear.slice(0, 1), resampling).p, undefined);
});

test("compareErrors() in the other direction has the negative difference and the same p", () => {
  const rows = pairs([3, 1], [2, 4], [5, 1], [0, 0], [3, 2]);
  const reversed = rows.map(({ first, second }) => ({ first: second, second: first }));
  const [one, other] = [compareErrors(rows, resampling), compareErrors(reversed, resampling)];
  assert.equal(one.difference, -other.difference);
  assert.equal(one.p, other.p);
  assert.deepEqual([one.better, one.worse], [other.worse, other.better]);
});
