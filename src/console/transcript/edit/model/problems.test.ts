import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, paragraphsOf, type EditedParagraph } from "./base.ts";
import { changesOf } from "./changes.ts";
import { findProblems } from "./problems.ts";

const times = { startTime: "0s", endTime: "1s" };
const base = baseOf([{ ...times, words: [{ ...times, word: "eitt" }] }]);

function problemsOf(paragraphs: EditedParagraph[]) {
  return findProblems(base, paragraphs, changesOf(base, paragraphs));
}

test("findProblems() finds what the service would refuse", () => {
  const [own] = paragraphsOf(base);
  assert.ok(own);
  const texts: [text: string, problems: object[]][] = [
    ["eitt", []],
    ["tvö\tog\nþrjú 😀", []],
    ["x".repeat(1000), []],
    ["😀".repeat(1000), []],
    [
      `já ${"x".repeat(1001)}`,
      [{ kind: "wordChars", paragraph: 0, offset: 3, count: 1001, limit: 1000 }],
    ],
    ["a\u0000b", [{ kind: "invalidCharacter", paragraph: 0, offset: 1 }]],
    ["a\r\u0007", [1, 2].map((offset) => ({ kind: "invalidCharacter", paragraph: 0, offset }))],
    ["a\ud800", [{ kind: "invalidCharacter", paragraph: 0, offset: 1 }]],
  ];
  for (const [text, problems] of texts) {
    assert.deepEqual(problemsOf([{ ...own, text }]), problems, JSON.stringify(text));
  }
  assert.deepEqual(problemsOf([{ ...own, text: "orð ".repeat(200_001) }]), [
    { kind: "words", count: 200_001, limit: 200_000, paragraph: 0, offset: 800_000 },
  ]);
  const many = Array.from({ length: 20_000 }, () => ({ ...own, text: "x", from: 1 }));
  // Paragraphs that continue a segment are none of their own.
  const soft = { ...own, text: "x", from: 1, isSoft: true };
  assert.deepEqual(problemsOf([own, soft, ...many]), [
    { kind: "segments", count: 20_001, limit: 20_000, paragraph: 20_001, offset: 0 },
  ]);
});
