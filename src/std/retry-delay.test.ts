import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelayMs } from "./retry-delay.ts";

const dayMs = 24 * 3_600_000;

/**
 * Returns the times at which a message that is never accepted is sent, in seconds since its event,
 * with a simulated clock; each attempt takes `attemptMs`.
 */
function attemptsAt(chance: number, attemptMs: number): number[] {
  const times: number[] = [];
  for (let clock = 0, attempts = 1; attempts < 100; attempts++) {
    times.push(Math.round(clock / 1000));
    clock += attemptMs;
    const delayMs = retryDelayMs({ attempts, leftMs: dayMs - clock, chance });
    if (delayMs === undefined) return times;
    clock += delayMs;
  }
  return assert.fail("it never ends");
}

test("a message that is never accepted is sent for a day, at growing intervals, with a last attempt at the end", () => {
  const hour = 3_600;
  const first = [0, 5, 35, 155, 755, 2_555, 6_155];
  const twoHourly = Array.from({ length: 11 }, (_, at) => 13_355 + at * 2 * hour);
  assert.deepEqual(attemptsAt(0.5, 0), [...first, ...twoHourly, 24 * hour]);
});

test("slow attempts end within a day and the time of one attempt, whatever the jitter", () => {
  for (const chance of [0, 0.25, 0.5, 0.999_999]) {
    const times = attemptsAt(chance, 15_000);
    const last = times.at(-1) ?? 0;
    assert.ok(last <= 86_400 && last > 86_400 - 2 * 3_600, `${chance}: ${last}`);
    assert.ok(times.length >= 15 && times.length <= 24, `${chance}: ${times.length}`);
  }
});

test("the jitter of a delay is up to a fifth in either direction", () => {
  const rows: [attempts: number, least: number, most: number][] = [
    [1, 4_000, 6_000],
    [2, 24_000, 36_000],
    [3, 96_000, 144_000],
    [4, 480_000, 720_000],
    [5, 1_440_000, 2_160_000],
    [6, 2_880_000, 4_320_000],
    [7, 5_760_000, 8_640_000],
    [8, 5_760_000, 8_640_000],
    [400, 5_760_000, 8_640_000],
  ];
  for (const [attempts, least, most] of rows) {
    assert.equal(retryDelayMs({ attempts, leftMs: dayMs, chance: 0 }), least);
    assert.equal(retryDelayMs({ attempts, leftMs: dayMs, chance: 1 }), most);
  }
});

test("Retry-After lengthens but never shortens a delay, up to two hours and the end of the day", () => {
  const wait = (retryAfterMs: number, leftMs = dayMs) =>
    retryDelayMs({ attempts: 1, leftMs, retryAfterMs, chance: 0.5 });
  assert.equal(wait(0), 5_000);
  assert.equal(wait(60_000), 60_000);
  assert.equal(wait(7_200_000), 7_200_000);
  assert.equal(wait(86_400_000), 7_200_000);
  assert.equal(wait(60_000, 20_000), 20_000);
  assert.equal(wait(60_000, 0), undefined);
  assert.equal(wait(60_000, -1), undefined);
});
