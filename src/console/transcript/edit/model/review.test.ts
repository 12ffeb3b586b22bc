import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf, paragraphsOf } from "./base.ts";
import { spanOfParagraph } from "./review.ts";
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

test("spanOfParagraph() depends on the run, and on the words only where there is no run", () => {
  const [one] = paragraphsOf(base);
  assert.ok(one);
  const spanOf = (paragraph: typeof one) => {
    const span = spanOfParagraph(base, paragraph);
    return span && [span.start.text, span.end.text];
  };
  assert.deepEqual(spanOf(one), ["1s", "4.5s"]);
  assert.deepEqual(spanOf({ ...one, text: "" }), ["1s", "4.5s"]);
  // The new word is said at the start of the pause, which begins at 3 s.
  assert.deepEqual(spanOf({ ...one, text: "nýtt ", from: 2, to: 2 }), ["3s", "3.301s"]);
  assert.equal(spanOf({ ...one, text: "", from: 2, to: 2 }), undefined);
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
