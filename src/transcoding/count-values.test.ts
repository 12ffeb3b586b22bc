import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { countValues } from "./count-values.ts";

test("countValues() counts the commas and brackets of JSON, except those inside strings", () => {
  const text = `${"a".repeat(50)},[{`;
  const rows: [json: string, count: number][] = [
    ["", 0],
    ["{}", 1],
    ["[1,2,[3]]", 4],
    [`["${text}"]`, 1],
    [String.raw`["\"${text}\\",1]`, 2],
    [String.raw`["\\",[],"${text}\"${text}"]`, 4],
    [`["${text}`, 1],
    ["[".repeat(64), 64],
    [`[${"1".repeat(640)}]`, 11],
  ];
  for (const [json, count] of rows) {
    assert.equal(countValues(Buffer.from(json), 100), count, json);
  }
  assert.equal(countValues(Buffer.from("[1,2,3,4,5,6,7,8,9]"), 7), 8, "one past the limit");
  assert.throws(() => countValues(Buffer.from("[".repeat(65))), /nests deeper than 64 levels/);
});

test("countValues() never counts fewer values than JSON.parse() creates, whatever the strings contain", () => {
  const containersOf = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, one) => sum + containersOf(one), 1)
      : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), (value) => {
      const count = countValues(Buffer.from(JSON.stringify(value)));
      assert.ok(count >= containersOf(value));
      const commas = JSON.stringify(value, (_, one) => (typeof one === "string" ? "" : one));
      assert.ok(count <= commas.length);
    }),
    { numRuns: runs(1_000) },
  );
});
