import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeG711 } from "./g711.ts";

/** All bytes in order. */
const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/**
 * The decoder output values of ITU-T G.711 table 2a: the value of step 0 of each segment and the
 * width of its steps, for 14 bits.
 */
const mulawSegments = [
  [0, 2],
  [33, 4],
  [99, 8],
  [231, 16],
  [495, 32],
  [1023, 64],
  [2079, 128],
  [4191, 256],
] as const;

/** The same of table 1a: for 13 bits, in units of half a step. */
const alawSegments = [
  [1, 2],
  [33, 2],
  [66, 4],
  [132, 8],
  [264, 16],
  [528, 32],
  [1056, 64],
  [2112, 128],
] as const;

test("decodeG711() decodes every byte of the µ-law to the value of the standard", () => {
  const samples = decodeG711(bytes, "mulaw");
  for (const [segment, [first, step]] of mulawSegments.entries()) {
    for (let at = 0; at < 16; at++) {
      const value = 4 * (first + at * step);
      const byte = 0xff - (segment * 16 + at);
      assert.equal(samples[byte], value, `byte ${byte}`);
      assert.equal(samples[byte - 0x80], value === 0 ? 0 : -value, `byte ${byte - 0x80}`);
    }
  }
});

test("decodeG711() decodes every byte of the A-law to the value of the standard", () => {
  const samples = decodeG711(bytes, "alaw");
  for (const [segment, [first, step]] of alawSegments.entries()) {
    for (let at = 0; at < 16; at++) {
      const value = 8 * (first + at * step);
      const byte = (0x80 | (segment * 16 + at)) ^ 0x55;
      assert.equal(samples[byte], value, `byte ${byte}`);
      assert.equal(samples[byte ^ 0x80], -value, `byte ${byte ^ 0x80}`);
    }
  }
});
