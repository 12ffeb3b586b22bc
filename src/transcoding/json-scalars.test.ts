import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { ScalarType } from "@bufbuild/protobuf";
import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import {
  bytesOfBase64,
  expectedDuration,
  expectedMapKey,
  expectedTimestamp,
  scalarChecks,
} from "./json-scalars.ts";

test("scalarChecks accept the values that proto3 JSON accepts", () => {
  const rows: [type: ScalarType, good: JsonValue[], bad: JsonValue[]][] = [
    [ScalarType.STRING, ["", "þ", "😁"], [1, null, [], "\ud800", "a\udc00b"]],
    [ScalarType.BOOL, [true, false], ["true", 0, 1, null]],
    [
      ScalarType.INT32,
      [0, -2147483648, 2147483647, "5", "-7", "1e5", "1.0", 100000.0],
      [
        2147483648,
        -2147483649,
        0.5,
        "0.5",
        "",
        " 1",
        "1 ",
        "0x10",
        "0b11",
        "1.",
        "00",
        "007",
        "+1",
        true,
        "NaN",
      ],
    ],
    [ScalarType.UINT32, [0, 4294967295, "4294967295"], [-1, 4294967296, "-1"]],
    [
      ScalarType.INT64,
      ["9223372036854775807", "-9223372036854775808", 5, 9223372036854774784],
      ["9223372036854775808", "1.0", "1e2", 0.5, "", "9".repeat(2000), 1e300],
    ],
    [ScalarType.UINT64, ["18446744073709551615", 0], ["18446744073709551616", "-1", -1]],
    [
      ScalarType.FLOAT,
      [1.5, "1.5", "NaN", "Infinity", "-Infinity", 3.4028234e38, "-1e-7"],
      [3.502823e38, "", "1.5 ", "nan", "+1", true, null, "1e999"],
    ],
    [ScalarType.DOUBLE, [1.7976931348623157e308, "0"], ["1e309", "0x1", Infinity]],
    [ScalarType.BYTES, ["", "AQI=", "AQI", "-_"], [1, "!!!!", "A", "AQI ", null]],
  ];
  for (const [type, good, bad] of rows) {
    for (const value of good) {
      assert.equal(scalarChecks[type](value), undefined, `${type}: ${JSON.stringify(value)}`);
    }
    for (const value of bad) {
      assert.ok(scalarChecks[type](value), `${type}: ${JSON.stringify(value)}`);
    }
  }
  assert.equal(
    scalarChecks[ScalarType.INT32](3e9),
    "a whole number from -2147483648 to 2147483647",
  );
});

test("expectedMapKey() accepts booleans and numbers written as strings", () => {
  assert.equal(expectedMapKey(ScalarType.BOOL, "true"), undefined);
  assert.equal(expectedMapKey(ScalarType.BOOL, "1"), "true or false");
  assert.equal(expectedMapKey(ScalarType.INT32, "-5"), undefined);
  assert.equal(expectedMapKey(ScalarType.INT32, "x"), "a whole number");
  assert.equal(expectedMapKey(ScalarType.STRING, "__proto__"), undefined);
});

test("expectedTimestamp() accepts dates and times that exist", () => {
  const good = [
    "2026-11-20T10:11:12Z",
    "2024-02-29T23:59:59.999999999Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999999Z",
    "2026-11-20T10:11:12.5+08:00",
    "1970-01-01T00:00:00-11:30",
  ];
  const bad = [
    "2001-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "1970-01-01T24:00:00Z",
    "1970-01-01T00:60:00Z",
    "1970-01-01T00:00:60Z",
    "1970-01-01T00:00:00+24:00",
    "1970-01-01T00:00:00+00:60",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "2026-11-20T10:11:12",
    "2026-11-20 10:11:12Z",
    "2026-11-20t10:11:12z",
    "2026-11-20T10:11:12.1234567890Z",
    "",
    1,
    null,
  ];
  for (const value of good) assert.equal(expectedTimestamp(value), undefined, value);
  for (const value of bad) assert.ok(expectedTimestamp(value), String(value));
});

test("expectedDuration() accepts durations of the form <seconds>s", () => {
  for (const value of ["0s", "1.5s", "-0.5s", "1.000000001s", "315576000000s"]) {
    assert.equal(expectedDuration(value), undefined, value);
  }
  for (const value of [
    "1",
    "s",
    "1S",
    " 1s",
    "1sx",
    "1s 2s",
    "1.0000000001s",
    "+1s",
    "1e3s",
    "315576000001s",
    1,
  ]) {
    assert.ok(expectedDuration(value), String(value));
  }
});

test("bytesOfBase64() decodes base64 in either alphabet, with or without padding", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.boolean(),
      fc.boolean(),
      (bytes, url, pad) => {
        let text = Buffer.from(bytes).toString("base64");
        if (url) text = text.replaceAll("+", "-").replaceAll("/", "_");
        if (!pad) text = text.replaceAll("=", "");
        const read = bytesOfBase64(text);
        assert.ok(read);
        assert.deepEqual([...read], [...bytes]);
      },
    ),
    { numRuns: 500 },
  );
});

test("bytesOfBase64() refuses any text that is not base64", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
  const char = fc.oneof(
    { weight: 20, arbitrary: fc.nat(letters.length - 1).map((at) => letters.charAt(at)) },
    // A decoder that uses only the low eight bits reads "Ł" as "A".
    {
      weight: 1,
      arbitrary: fc.constantFrom("=", " ", "\n", "\u0000", "é", "Ł", "\u0141", "😁", ".", "%"),
    },
  );
  let refused = 0;
  fc.assert(
    fc.property(fc.array(char, { maxLength: 40 }), (chars) => {
      const text = chars.join("");
      const plain = text.replace(/={1,2}$/, "");
      const isBase64 =
        /^[A-Za-z0-9+/_-]*$/.test(plain) &&
        plain.length % 4 !== 1 &&
        (plain === text || text.length % 4 === 0);
      assert.equal(bytesOfBase64(text) !== undefined, isBase64, JSON.stringify(text));
      if (!isBase64) refused++;
    }),
    { numRuns: runs(10_000) },
  );
  assert.ok(refused > runs(1_000));
});
