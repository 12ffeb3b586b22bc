import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SampleJoiner, samplesOf } from "./linear16.ts";

test("samplesOf() reads little-endian 16-bit samples, whether they are aligned or not", () => {
  const bytes = Uint8Array.of(9, 0x34, 0x12, 0xff, 0xff);
  assert.deepEqual(samplesOf(bytes.subarray(1)), Int16Array.of(0x1234, -1));
  assert.deepEqual(samplesOf(bytes.slice(1)), Int16Array.of(0x1234, -1));
});

test("SampleJoiner returns the same samples, wherever the audio is split", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(40)), (bytes, cuts) => {
      const whole = samplesOf(bytes.slice());
      const joiner = new SampleJoiner();
      const places = [0, ...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b)];
      const parts = places.map((from, at) => bytes.subarray(from, places[at + 1]));
      const joined = parts.flatMap((part) => [...joiner.push(part)]);
      assert.deepEqual(joined, [...whole]);
    }),
  );
});
