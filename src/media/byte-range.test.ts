import assert from "node:assert/strict";
import { test } from "node:test";
import { namesTag, readRange } from "./byte-range.ts";

test('readRange() reads a single range, and returns "whole" for everything else', () => {
  const rows: [header: string | undefined, size: number, expected: ReturnType<typeof readRange>][] =
    [
      [undefined, 100, "whole"],
      ["bytes=0-", 100, { start: 0, end: 99 }],
      ["bytes=0-0", 100, { start: 0, end: 0 }],
      ["bytes=10-19", 100, { start: 10, end: 19 }],
      ["Bytes=10-1000", 100, { start: 10, end: 99 }],
      ["bytes=99-", 100, { start: 99, end: 99 }],
      ["bytes=100-", 100, "unsatisfiable"],
      ["bytes=100-200", 100, "unsatisfiable"],
      ["bytes=-1", 100, { start: 99, end: 99 }],
      ["bytes=-100", 100, { start: 0, end: 99 }],
      ["bytes=-1000", 100, { start: 0, end: 99 }],
      ["bytes=-0", 100, "unsatisfiable"],
      ["bytes=0-", 0, "unsatisfiable"],
      ["bytes=-5", 0, "unsatisfiable"],
      ["bytes=19-10", 100, "whole"],
      ["bytes=0-1,5-6", 100, "whole"],
      ["bytes=-", 100, "whole"],
      ["bytes=a-b", 100, "whole"],
      ["bytes=0-9999999999999999999", 100, "whole"],
      ["seconds=0-1", 100, "whole"],
      ["", 100, "whole"],
    ];
  for (const [header, size, expected] of rows) {
    assert.deepEqual(readRange(header, size), expected, `${header} of ${size}`);
  }
});

test("namesTag() compares tags weakly, including tags in lists", () => {
  const rows: [header: string | undefined, expected: boolean][] = [
    [undefined, false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ["*", true],
    ['"b"', false],
    ["a", false],
  ];
  for (const [header, expected] of rows) assert.equal(namesTag(header, '"a"'), expected, header);
});
