import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JobProgress } from "./job-progress.ts";

const pieceOf = (index: number) => ({
  index,
  startMs: index * 10_000,
  endMs: (index + 1) * 10_000,
});

test("progress counts the finished pieces and the processed parts of the others, each once", () => {
  const progress = new JobProgress();
  const sums: number[][] = [];
  const note = (): void => void sums.push([progress.doneMs, progress.hereMs]);
  progress.reaches(40_000);
  progress.done(pieceOf(0), { isKnown: true });
  note();
  // The engine of piece 1 is lost, and the piece is started again.
  for (const [index, ms] of [
    [1, 4_000],
    [2, 7_000],
    [1, 1_000],
    [1, 6_000],
  ] as const) {
    progress.processed(pieceOf(index), ms);
    note();
  }
  progress.done(pieceOf(1), { isKnown: false });
  note();
  progress.processed(pieceOf(2), 99_000);
  note();
  assert.deepEqual(sums, [
    [10_000, 0],
    [14_000, 4_000],
    [21_000, 11_000],
    [21_000, 11_000],
    [23_000, 13_000],
    [27_000, 17_000],
    [30_000, 20_000],
  ]);
  assert.equal(progress.totalMs, 40_000);
});

test("progress never falls, and never exceeds the pieces that were processed, whatever engines report", () => {
  const step = fc.record({
    index: fc.nat(3),
    ms: fc.integer({ min: 0, max: 12_000 }),
    isDone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const progress = new JobProgress();
      const done = new Set<number>();
      const most = new Map<number, number>();
      for (const { index, ms, isDone } of steps) {
        if (done.has(index)) continue;
        if (isDone) progress.done(pieceOf(index), { isKnown: false });
        else progress.processed(pieceOf(index), ms);
        if (isDone) done.add(index);
        const processedMs = isDone ? 10_000 : Math.min(ms, 10_000);
        most.set(index, Math.max(most.get(index) ?? 0, processedMs));
        const sum = [...most.values()].reduce((total, each) => total + each, 0);
        assert.equal(progress.doneMs, sum);
      }
    }),
  );
});
