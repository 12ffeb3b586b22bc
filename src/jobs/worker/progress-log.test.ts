import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { ProgressLog } from "./progress-log.ts";

function openLog(): { lines: Record<string, unknown>[]; log: ProgressLog } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const logger = pino({ base: null, timestamp: false, messageKey: "event" }, { write });
  return { lines, log: new ProgressLog(logger) };
}

test("a job of an hour that takes five minutes is logged every ten seconds and at each quarter", () => {
  const { lines, log } = openLog();
  const totalMs = 3_600_000;
  for (let second = 0; second <= 300; second++) {
    const doneMs = second * 12_000;
    log.note({ doneMs, totalMs, hereMs: doneMs }, 1_000 * second);
  }
  // The quarters are at 75, 150, 225 and 300 seconds. The ten seconds count from the previous line.
  assert.equal(lines.length, 32);
  assert.deepEqual(lines[7], {
    level: 30,
    recognizedSeconds: 900,
    ofSeconds: 3600,
    speed: 12,
    secondsLeft: 225,
    event: "job.progress",
  });
  assert.deepEqual(
    lines.map(({ recognizedSeconds }) => Number(recognizedSeconds) / 12).slice(5, 9),
    [60, 70, 75, 85],
  );
});

test("a short job is logged at each quarter, and one without progress is not logged", () => {
  const { lines, log } = openLog();
  for (let step = 0; step <= 8; step++) {
    const doneMs = step * 500;
    log.note({ doneMs, totalMs: 4_000, hereMs: doneMs }, step * 1_000);
  }
  assert.deepEqual(
    lines.map(({ recognizedSeconds, secondsLeft }) => [recognizedSeconds, secondsLeft]),
    [
      [1, 6],
      [2, 4],
      [3, 2],
      [4, 0],
    ],
  );
  const still = openLog();
  for (let second = 0; second < 100; second++) {
    still.log.note({ doneMs: 0, totalMs: 4_000, hereMs: 0 }, second * 1_000);
  }
  assert.deepEqual(still.lines, []);
});

test("pieces of an earlier attempt do not count toward the speed of this one", () => {
  const { lines, log } = openLog();
  log.note({ doneMs: 60_000, totalMs: 100_000, hereMs: 0 }, 0);
  log.note({ doneMs: 80_000, totalMs: 100_000, hereMs: 20_000 }, 10_000);
  assert.equal(lines[0]?.["speed"], 2);
  assert.equal(lines[0]?.["secondsLeft"], 10);
});
