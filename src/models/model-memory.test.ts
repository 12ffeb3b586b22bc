import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryOf, processesWithin } from "./model-memory.ts";

test("processesWithin() allows at least one process, and no more than fit into a quarter of the memory", () => {
  const gib = 2 ** 30;
  const rows: [modelBytes: number, processes: number, memoryBytes: number, count: number][] = [
    [0, 4, 16 * gib, 4],
    [3 << 20, 16, 16 * gib, 16],
    [gib, 4, 16 * gib, 2],
    [gib, 1, 64 * gib, 1],
    [gib, 8, 64 * gib, 8],
    [3 * gib, 8, 8 * gib, 1],
    [gib / 2, 8, 8 * gib, 2],
  ];
  for (const [modelBytes, processes, memoryBytes, count] of rows) {
    assert.equal(processesWithin(modelBytes, processes, memoryBytes), count);
  }
});

test("a process takes twice as much memory as the files have bytes", () => {
  assert.equal(memoryOf(3 << 20), 6 << 20);
});
