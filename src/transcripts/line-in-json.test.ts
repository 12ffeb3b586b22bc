import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { lineInJson } from "./line-in-json.ts";

test("lineInJson() returns the line of a value, or of what lacks it", () => {
  const json = `{
    "name": "a \\" [ {",
    "segments": [
      { "words": [] },
      { "startTime": "1s", "words": [{ "word": "a,b]" },
        { "word": "c" }] }
    ]
  }`;
  const rows: [path: string, line: number][] = [
    ["", 1],
    ["name", 2],
    ["segments", 3],
    ["segments[0].words", 4],
    ["segments[1].startTime", 5],
    ["segments[1].words[1].word", 6],
    ["segments[1].words[1].startTime", 6],
    ["segments[1].endTime", 5],
    ["segments[7]", 3],
    ["metadata.subject", 1],
    ["name.subject", 2],
  ];
  for (const [path, line] of rows) assert.equal(lineInJson(json, path), line, path);
});

test("lineInJson() finds each value of any JSON", () => {
  const names = fc.stringMatching(/^[a-z"\\{}[\]:,]{1,4}$/).filter((name) => !/[.[\]]/.test(name));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(names, tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(value, (made) => {
      const text = JSON.stringify(made, null, 1);
      const lines = text.split("\n");
      for (const { path, found } of placesIn(made)) {
        const line = lines[lineInJson(text, path) - 1] ?? "";
        const shown = JSON.stringify(found, null, 1).split("\n")[0] ?? "";
        assert.ok(line.includes(shown), `${path} in ${text}`);
      }
    }),
    { numRuns: 200 },
  );
});

function placesIn(value: unknown, path = ""): { path: string; found: unknown }[] {
  if (typeof value !== "object" || value === null) return [{ path, found: value }];
  const inner = Array.isArray(value)
    ? value.flatMap((each, index) => placesIn(each, `${path}[${index}]`))
    : Object.entries(value).flatMap(([name, each]) => placesIn(each, `${path}.${name}`));
  return [{ path, found: value }, ...inner];
}
