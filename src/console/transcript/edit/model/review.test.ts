import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, paragraphsOf } from "./base.ts";
import { coveredParagraphs, spanOfParagraph } from "./review.ts";
import { coveredSeconds } from "./time-ranges.ts";

/** Three segments of two words each, which begin at 0, 10 and 20 seconds. */
const base = baseOf(
  [0, 10, 20].map((start) => ({
    startTime: `${start}s`,
    endTime: `${start + 9}s`,
    words: [
      { startTime: `${start + 1}s`, endTime: `${start + 4.5}s`, word: "eitt " },
      { startTime: `${start + 2}s`, endTime: `${start + 3}s`, word: "tvö" },
    ],
  })),
);

test("coveredParagraphs() finds the paragraphs of which every moment is covered", () => {
  const rows: [ranges: [start: number, end: number][], covered: string][] = [
    [[], "---"],
    [[[0, 30]], "xxx"],
    [[[1, 4.5]], "x--"],
    [[[1.0005, 4.4995]], "x--"],
    [[[1.1, 4.5]], "---"],
    [[[1, 4.4]], "---"],
    [
      [
        [3, 15],
        [0, 3],
      ],
      "xx-",
    ],
    [
      [
        [0, 2],
        [2.5, 30],
      ],
      "-xx",
    ],
    [
      [
        [0, 30],
        [2, 3],
      ],
      "xxx",
    ],
  ];
  for (const [ranges, covered] of rows) {
    const times = ranges.map(([start, end]) => ({ start, end }));
    const found = coveredParagraphs(base, paragraphsOf(base), times);
    assert.equal(found.map((is) => (is ? "x" : "-")).join(""), covered, JSON.stringify(ranges));
  }
});

test("typing does not change what is covered, and paragraphs without words are covered", () => {
  const [one, ...rest] = paragraphsOf(base);
  assert.ok(one);
  const paragraphs = [
    { ...one, text: "" },
    { ...one, text: "nýtt ", from: 2, to: 2 },
    { ...one, text: "", from: 2, to: 2 },
    ...rest,
  ];
  const covered = (start: number, end: number) =>
    coveredParagraphs(base, paragraphs, [{ start, end }]);
  // The new word is said in the pause, which begins at 3 s.
  assert.deepEqual(covered(1, 4.5), [true, true, true, false, false]);
  assert.deepEqual(covered(3, 11), [false, true, true, false, false]);
  assert.deepEqual(covered(4, 11), [false, false, true, false, false]);
  assert.equal(spanOfParagraph(base, one)?.end.text, "4.5s");
});

test("coveredSeconds() counts each moment once", () => {
  const ranges = [
    { start: 0, end: 10 },
    { start: 5, end: 12 },
    { start: 20, end: 30 },
  ];
  assert.equal(coveredSeconds(ranges, { start: 2, end: 25 }), 15);
  assert.equal(coveredSeconds([], { start: 2, end: 25 }), 0);
});
