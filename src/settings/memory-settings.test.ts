import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "../std/setting.ts";
import { memoryShares } from "./memory-settings.ts";

const mb = 1 << 20;
const parts = { connectionsMax: 10_000, workerThreads: 2 };
const node = { machineBytes: 64_000 * mb, heapBytes: Infinity };

test("memoryShares() divides nearly all of the given memory, and never more", () => {
  for (const memoryMb of [3_513, 4_096, 8_192, 65_536]) {
    const { bodies, answers, watches, ...others } = memoryShares(memoryMb, parts, node);
    const held = [bodies, answers, watches];
    const sum =
      Object.values(others).reduce((all, bytes) => all + bytes, 0) +
      held.reduce((all, { nodeBytesMax }) => all + nodeBytesMax, 0);
    assert.ok(sum <= memoryMb * mb, `${sum} bytes of ${memoryMb} MB`);
    assert.ok(sum > 0.99 * memoryMb * mb, `${sum} bytes of ${memoryMb} MB`);
    for (const { nodeBytesMax, accountBytesMax } of held) {
      assert.ok(accountBytesMax <= nodeBytesMax && accountBytesMax >= 56 * mb, `${memoryMb} MB`);
    }
  }
});

test("memoryShares() divides half of the machine's memory by default, and never less than the minimum", () => {
  const sumOf = (machineBytes: number) => {
    const { bodies, answers, watches, ...others } = memoryShares(undefined, parts, {
      ...node,
      machineBytes,
    });
    const all = [bodies, answers, watches].map(({ nodeBytesMax }) => nodeBytesMax);
    return Math.round([...Object.values(others), ...all].reduce((a, b) => a + b) / mb);
  };
  assert.equal(sumOf(12_000 * mb), 6_000);
  assert.equal(sumOf(64_000 * mb), 8_192);
  assert.equal(sumOf(1_000 * mb), 3_513);
});

test("memoryShares() rejects a number that is too small, and states the minimum", () => {
  assert.throws(
    () => memoryShares(3_512, parts, node),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(
        error.message,
        /^HLUST_MEMORY_MB must be at least 3513 for 10000 con.*, not 3512$/,
      );
      return true;
    },
  );
});

test("memoryShares() limits the memory for calls to the memory of the heap", () => {
  const shares = memoryShares(8_192, parts, { ...node, heapBytes: 2_048 * mb });
  const { live, bodies, answers, watches } = shares;
  const calls = [bodies, answers, watches].reduce((all, each) => all + each.nodeBytesMax, live);
  assert.ok(calls <= 1_536 * mb && calls > 1_500 * mb, `${calls}`);
});
