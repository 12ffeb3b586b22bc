import assert from "node:assert/strict";
import { test } from "node:test";
import { atOnce } from "../../../std/at-once.ts";
import { finderOf } from "../edit/model/find.ts";
import { firstHitFrom, hitAt, hitsInSteps, wordsAround } from "./hits-in-text.ts";

const paragraphs = ["Áin rann", "", "yfir ána, á og Á"].map((text, at) => ({
  text,
  start: at,
  speaker: "",
  isEstimated: false,
  isTurn: false,
  firstWord: at,
}));

test("hitsInSteps() finds the hits of all paragraphs in order, and hitAt() and firstHitFrom() find one", () => {
  const finder = finderOf({ text: "á", isCaseExact: false, isWholeWords: false });
  assert.ok(finder);
  const steps = [...hitsInSteps({ paragraphs }, finder)];
  assert.equal(steps.length, paragraphs.length);
  const hits = atOnce(hitsInSteps({ paragraphs }, finder));
  assert.deepEqual(hits.paragraphs, [0, 2, 2, 2]);
  assert.deepEqual(hitAt(hits, 1), { paragraph: 2, from: 5, to: 6 });
  assert.equal(hitAt(hits, 4), undefined);
  assert.equal(hitAt(hits, -1), undefined);
  assert.deepEqual(
    [0, 1, 2, 3].map((paragraph) => firstHitFrom(hits, paragraph)),
    [0, 1, 1, 4],
  );
});

test("wordsAround() returns whole words before and after a hit", () => {
  const long = `${"orð ".repeat(30)}brúna við ána${" orð".repeat(30)}`;
  const from = long.indexOf("úna");
  const rows: [text: string, from: number, to: number, before: string, after: string][] = [
    ["við ána", 4, 7, "við ", ""],
    ["við ána", 0, 3, "", " ána"],
    [long, from, from + 3, `…${"orð ".repeat(11)}br`, ` við ána${" orð".repeat(10)}…`],
    ["x".repeat(200), 100, 101, "…", "…"],
    [`${"x".repeat(200)} y`, 201, 202, "…", ""],
  ];
  for (const [text, start, end, before, after] of rows) {
    const found = text.slice(start, end);
    assert.deepEqual(wordsAround(text, { from: start, to: end }), [before, found, after]);
  }
});
