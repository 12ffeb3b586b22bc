import assert from "node:assert/strict";
import { test } from "node:test";
import { freeMemory } from "./free-memory.ts";

const bytes = 65_536;

test("freeMemory() frees a buffer only if no other code can use a part of it", () => {
  const rows: readonly [string, (buffer: ArrayBuffer) => Uint8Array, number, boolean][] = [
    ["all of it", (buffer) => new Uint8Array(buffer), 0, true],
    ["all but its end", (buffer) => new Uint8Array(buffer, 0, bytes - 10), 0, false],
    ["all but an unused end", (buffer) => new Uint8Array(buffer, 0, bytes - 10), 10, true],
    ["all but a longer end", (buffer) => new Uint8Array(buffer, 0, bytes - 11), 10, false],
    ["all but its start", (buffer) => new Uint8Array(buffer, 10), 10, false],
  ];
  for (const [name, viewOf, otherBytesMax, isFreed] of rows) {
    const buffer = new ArrayBuffer(bytes);
    freeMemory(viewOf(buffer), { otherBytesMax });
    assert.equal(buffer.detached, isFreed, name);
  }
});

test("freeMemory() leaves the start of a small buffer, which a parser may keep", () => {
  const buffer = new ArrayBuffer(70);
  freeMemory(new Uint8Array(buffer, 0, 20), { otherBytesMax: 74 });
  assert.equal(buffer.detached, false);
});
