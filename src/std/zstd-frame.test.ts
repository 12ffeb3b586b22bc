import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { spliceZstd } from "./zstd-frame.ts";

const level = constants.ZSTD_c_compressionLevel;
const checksum = constants.ZSTD_c_checksumFlag;
const contentSize = constants.ZSTD_c_contentSizeFlag;
const windowLog = constants.ZSTD_c_windowLog;

/** Compressible text and incompressible bytes, each of up to more than a block. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(fc.string({ minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 8_000 }))
    .map(([text, times]) => Buffer.from(text.repeat(times))),
  fc
    .tuple(fc.nat(0xffff), fc.integer({ min: 0, max: 300_000 }))
    .map(([seed, length]) => noise(seed + 1, length)),
);

function noise(seed: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at += 1) {
    state = (state * 48_271) % 2_147_483_647;
    bytes[at] = state >> 8;
  }
  return bytes;
}

const params = fc.record({
  [level]: fc.constantFrom(-5, 1, 3, 9, 19),
  [checksum]: fc.constantFrom(0, 1),
  [contentSize]: fc.constantFrom(0, 1),
  [windowLog]: fc.constantFrom(0, 10, 17, 23),
});

function splice(head: Buffer, frame: Buffer, tail: Buffer): Buffer | undefined {
  const pieces = spliceZstd(head, frame, tail);
  return pieces && Buffer.concat(pieces);
}

test("spliceZstd() creates one frame from a head, the content of a frame, and a tail", () => {
  fc.assert(
    fc.property(content, content, content, params, (head, body, tail, params) => {
      const spliced = splice(head, zstdCompressSync(body, { params }), tail);
      assert.ok(spliced);
      assert.ok(zstdDecompressSync(spliced).equals(Buffer.concat([head, body, tail])));
      // The result is a single frame, which can be spliced again.
      const again = splice(tail, spliced, head);
      assert.ok(again);
      assert.ok(zstdDecompressSync(again).equals(Buffer.concat([tail, head, body, tail, head])));
    }),
    { numRuns: 150 },
  );
});

test("spliceZstd() keeps the blocks of the frame unchanged", () => {
  const body = Buffer.from("hlust ".repeat(100_000));
  const frame = zstdCompressSync(body);
  const pieces = spliceZstd(Buffer.from("{"), frame, Buffer.from("}")) ?? [];
  assert.ok(pieces.some((piece) => piece.buffer === frame.buffer));
  const added = pieces.reduce((sum, piece) => sum + piece.length, 0) - frame.length;
  assert.ok(added < 20, `${added} bytes more`);
});

test("spliceZstd() returns undefined for frames that it cannot splice", () => {
  const frame = zstdCompressSync("text");
  const checked = zstdCompressSync("text", { params: { [checksum]: 1 } });
  const large = zstdCompressSync("text", { params: { [contentSize]: 0 } });
  large[5] = (24 - 10) << 3;
  const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7]);
  const withDictionary = Buffer.from(frame);
  withDictionary[4] = (withDictionary[4] ?? 0) | 1;
  const rows: [name: string, frame: Buffer][] = [
    ["nothing", Buffer.alloc(0)],
    ["no zstd", Buffer.from("no zstd at all")],
    ["two frames", Buffer.concat([frame, frame])],
    ["a skippable frame after it", Buffer.concat([frame, skippable])],
    ["cut off", frame.subarray(0, -1)],
    ["cut off before its checksum", checked.subarray(0, -1)],
    ["a dictionary", withDictionary],
    ["a window of 16 MiB", large],
  ];
  for (const [name, bytes] of rows) {
    assert.equal(spliceZstd(Buffer.from("{"), bytes, Buffer.from("}")), undefined, name);
  }
});

test("spliceZstd() never throws", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(20), fc.nat(255), (noise, at, byte) => {
      const frame = Buffer.concat([zstdCompressSync("some text, some text"), noise]);
      frame[at] = byte;
      spliceZstd(frame, frame, frame);
    }),
  );
});
