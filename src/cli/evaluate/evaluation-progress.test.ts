import assert from "node:assert/strict";
import { test } from "node:test";
import { EvaluationProgress } from "./evaluation-progress.ts";

function progressOf(total: number, isTTY: boolean) {
  const written: string[] = [];
  let nowMs = 0;
  const output = { isTTY, write: (text: string) => written.push(text) };
  const progress = new EvaluationProgress(total, output, () => nowMs);
  return {
    written,
    progress,
    add(ms: number): void {
      nowMs += ms;
      progress.add();
    },
  };
}

test("a terminal shows one line with the time that is left", () => {
  const { written, progress, add } = progressOf(3, true);
  add(30_000);
  add(30_000);
  add(1000);
  progress.end();
  assert.deepEqual(written, [
    "\r\u001B[K1 of 3 recordings, 1:00 left",
    "\r\u001B[K2 of 3 recordings, 0:30 left",
    "\r\u001B[K3 of 3 recordings",
    "\r\u001B[K",
  ]);
});

test("a file gets a line for each tenth", () => {
  const { written, progress, add } = progressOf(40, false);
  for (let count = 0; count < 40; count += 1) add(1000);
  progress.end();
  assert.equal(written.length, 10);
  assert.equal(written[0], "4 of 40 recordings, 0:36 left\n");
  assert.equal(written.at(-1), "40 of 40 recordings\n");
});
