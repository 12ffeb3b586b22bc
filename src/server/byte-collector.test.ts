import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldBytes } from "../std/held-bytes.ts";
import { ByteCollector } from "./byte-collector.ts";

const limits = { nodeBytesMax: 1e6, accountBytesMax: 200_000, reason: "FULL", what: "bodies" };

test("chunks are joined, and all their memory counts toward the share", () => {
  const held = new HeldBytes(limits);
  for (const sizes of [
    [],
    [5],
    [20_000],
    [5, 7],
    [100, 40_000, 3],
    Array.from({ length: 3_000 }, () => 17),
  ]) {
    using share = held.hold("one");
    const collector = new ByteCollector(100_000, share);
    const parts = sizes.map((size, at) => new Uint8Array(size).fill(at));
    for (const part of parts) collector.add(part);
    const all = Buffer.concat(parts);
    assert.ok(held.total >= all.length && held.total <= 1.5 * all.length + 32_768);
    assert.ok(all.equals(collector.take()));
  }
  assert.equal(held.total, 0);
});

test("a body over its own limit or the account's limit is refused", () => {
  const held = new HeldBytes(limits);
  using share = held.hold("one");
  const short = new ByteCollector(10, share);
  short.add(new Uint8Array(10));
  assert.throws(() => short.add(new Uint8Array(1)), {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
  });
  const long = new ByteCollector(1e6, share);
  long.add(new Uint8Array(150_000));
  assert.throws(() => long.add(new Uint8Array(50_000)), {
    code: "resource_exhausted",
    reason: "FULL",
  });
});
