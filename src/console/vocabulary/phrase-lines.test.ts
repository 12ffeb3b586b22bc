import assert from "node:assert/strict";
import { test } from "node:test";
import { lineProblems, linesOf } from "./phrase-lines.ts";

test("linesOf() numbers the lines that are not empty", () => {
  assert.deepEqual(linesOf("\nÁsbyrgi \r\n\r\n  Húsavík\n"), [
    { line: 2, phrase: "Ásbyrgi" },
    { line: 4, phrase: "Húsavík" },
  ]);
  assert.deepEqual(linesOf(" \n"), []);
});

test("lineProblems() names the line of each violation", () => {
  const lines = linesOf("a\n\nb\nc");
  const violations = [
    { field: "phrases[2].phrase", description: "has an emoji" },
    { field: "phrases[1].phrase", description: "is the same" },
    { field: "phrases", description: "has too many" },
  ];
  assert.deepEqual(lineProblems(violations, lines), [
    { line: undefined, description: "has too many" },
    { line: 3, description: "is the same" },
    { line: 4, description: "has an emoji" },
  ]);
});
