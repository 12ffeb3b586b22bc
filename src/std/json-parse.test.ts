import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { jsonParse } from "./json-parse.ts";

test("jsonParse() reads names with escapes, regardless of the names that were read before", () => {
  const rows: [before: string, text: string, name: string][] = [
    [String.raw`{"a":1,"\\":2}`, String.raw`{"a":1,"\"":2}`, '"'],
    [String.raw`{"a":1,"\\":2}`, String.raw`{"a":1,"\n" : 2}`, "\n"],
    [String.raw`{"a":1,"\\":2}`, String.raw`{"a":1,"\\":2}`, "\\"],
    [String.raw`{"a":1,"b\\u":2}`, String.raw`{"a":1,"b\u00f3k":2}`, "bók"],
    [String.raw`{"a":1,"x\\\\":2}`, String.raw`{"a":1,"x\\\"":2}`, 'x\\"'],
    [String.raw`{"a":1,"b\\u":2}`, String.raw`{"a":9,"\u0061":1,"\ue000\"":2}`, '\ue000"'],
    ["{}", String.raw`{"a":1,"__proto__":2}`, "__proto__"],
  ];
  for (const [before, text, name] of rows) {
    jsonParse(before);
    const expected = Object.fromEntries([
      ["a", 1],
      [name, 2],
    ]);
    assert.deepEqual(jsonParse(text), expected, text);
    const around = `[{"":${text}}, "\\"\\\\"]`;
    assert.deepEqual(jsonParse(around), [{ "": expected }, '"\\'], around);
  }
  assert.throws(() => jsonParse(String.raw`{"\"":`), SyntaxError);
  assert.throws(() => jsonParse(String.raw`"\"\"\"\"\"`), SyntaxError);
});

test("jsonParse() reads what JSON.stringify() wrote, regardless of what was read before", () => {
  const name = fc.constantFrom(
    '"',
    "\\",
    "a",
    "\n",
    "\u0001",
    "\u{e000}",
    "ó",
    "",
    '\\"',
    "b\\u",
    "bók",
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('"', '\\"":', "ꎙ", 1, null),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(name, tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, (given) => {
      const text = ascii(JSON.stringify(given));
      assert.equal(JSON.stringify(sorted(jsonParse(text))), JSON.stringify(sorted(given)));
    }),
    { numRuns: 5_000 },
  );
});

/** Returns the same value, with the members of its objects sorted by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return members.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Returns the same JSON with all non-ASCII characters escaped, as Python writes it. */
function ascii(json: string): string {
  return json.replaceAll(/[\u0080-\uFFFF]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
