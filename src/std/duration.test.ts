import assert from "node:assert/strict";
import { test } from "node:test";
import { toJson } from "@bufbuild/protobuf";
import { DurationSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { durationFromMs, msOfDuration, timestampFromDate } from "./duration.ts";

test("durationFromMs() writes durations in the form of the specification", () => {
  const rows: [number, string][] = [
    [0, "0s"],
    [1000, "1s"],
    [500, "0.500s"],
    [1234, "1.234s"],
    [-1500, "-1.500s"],
    [28_800_010, "28800.010s"],
  ];
  for (const [ms, text] of rows) assert.equal(toJson(DurationSchema, durationFromMs(ms)), text);
});

test("msOfDuration() is the inverse of durationFromMs()", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), (ms) => {
      assert.equal(msOfDuration(durationFromMs(ms)), ms);
    }),
  );
});

test("timestampFromDate() writes UTC with Z", () => {
  const date = new Date("2026-11-20T10:11:12.345Z");
  assert.equal(toJson(TimestampSchema, timestampFromDate(date)), "2026-11-20T10:11:12.345Z");
});
