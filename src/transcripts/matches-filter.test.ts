import assert from "node:assert/strict";
import { test } from "node:test";
import { foldText } from "../std/fold-text.ts";
import { parseFilter } from "./filter.ts";
import { matcherOf } from "./matches-filter.ts";

const items = [
  { subject: "Morgunfundur ÞÁ", keywords: ["fundur", "a"] },
  { subject: "100% a_b\\c", keywords: ["b"] },
  { subject: "", keywords: [] },
];

test("matcherOf() finds what lists find: parts of subjects in any case, and either keyword", () => {
  for (const [filter, found] of [
    ['metadata.subject CONTAINS "þá"', [0]],
    ['metadata.subject CONTAINS "FUNDUR"', [0]],
    ['metadata.subject CONTAINS "%"', [1]],
    ['metadata.subject CONTAINS "_"', [1]],
    [String.raw`metadata.subject CONTAINS "B\\C"`, [1]],
    ['metadata.subject CONTAINS ""', [0, 1, 2]],
    ['metadata.keywords CONTAINS ["a", "b"]', [0, 1]],
    ['metadata.keywords CONTAINS ["A"]', []],
    ['metadata.keywords CONTAINS ["a"] AND metadata.keywords CONTAINS ["b"]', []],
    ['metadata.keywords CONTAINS ["a"] AND metadata.subject CONTAINS "morgun"', [0]],
  ] as const) {
    const parsed = parseFilter(filter);
    assert.ok(!("field" in parsed), filter);
    const matches = matcherOf(parsed);
    const numbers = items.flatMap(({ subject, keywords }, number) =>
      matches({ subject: foldText(subject), keywords }) ? [number] : [],
    );
    assert.deepEqual(numbers, found, filter);
  }
  assert.ok(matcherOf([])({ subject: "", keywords: [] }), "no filter");
});
