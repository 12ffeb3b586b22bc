import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProgressCounter, type Progress } from "./job-progress.ts";

const pieceOf = (index: number) => ({
  index,
  startMs: index * 10_000,
  endMs: (index + 1) * 10_000,
});

function counter(): { told: Progress[]; progress: ProgressCounter } {
  const told: Progress[] = [];
  return { told, progress: new ProgressCounter((each) => told.push(each)) };
}

test("progress counts pieces that are done and what is heard of the others, once", () => {
  const { told, progress } = counter();
  progress.reaches(40_000);
  progress.done(pieceOf(0), { isKnown: true });
  progress.heard(pieceOf(1), 4_000);
  progress.heard(pieceOf(2), 7_000);
  // The engine of piece 1 is lost; it is heard again from its start.
  progress.heard(pieceOf(1), 1_000);
  progress.heard(pieceOf(1), 6_000);
  progress.done(pieceOf(1), { isKnown: false });
  progress.heard(pieceOf(2), 99_000);
  assert.deepEqual(
    told.map(({ doneMs, hereMs }) => [doneMs, hereMs]),
    [
      [10_000, 0],
      [14_000, 4_000],
      [21_000, 11_000],
      [21_000, 11_000],
      [23_000, 13_000],
      [27_000, 17_000],
      [30_000, 20_000],
    ],
  );
  assert.ok(told.every(({ totalMs }) => totalMs === 40_000));
});

test("whatever engines tell, progress never falls, and is never more than the pieces that were heard", () => {
  const step = fc.record({
    index: fc.nat(3),
    ms: fc.integer({ min: 0, max: 12_000 }),
    isDone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const { told, progress } = counter();
      const done = new Set<number>();
      const most = new Map<number, number>();
      for (const { index, ms, isDone } of steps) {
        if (done.has(index)) continue;
        if (isDone) progress.done(pieceOf(index), { isKnown: false });
        else progress.heard(pieceOf(index), ms);
        if (isDone) done.add(index);
        const heardMs = isDone ? 10_000 : Math.min(ms, 10_000);
        most.set(index, Math.max(most.get(index) ?? 0, heardMs));
        const sum = [...most.values()].reduce((total, each) => total + each, 0);
        assert.equal(told.at(-1)?.doneMs, sum);
      }
    }),
  );
});
