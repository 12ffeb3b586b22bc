import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { spliceSegments } from "./splice-segments.ts";

const packed = (text: string) => {
  const json = Buffer.from(text);
  return { jsonZstd: zstdCompressSync(json), jsonBytes: json.length };
};
const hashOf = (text: string) => createHash("sha256").update(text).digest();
const removal = (startIndex: number, endIndex: number) => {
  return { startIndex, endIndex, json: "", segments: 0, firstStart: 0, lastStart: 0 };
};
const segment = (speakerId: string) =>
  `{"startTime":"0s","endTime":"0s","words":[],"speakerId":${speakerId}}`;

test("spliceSegments() changes an empty list, the ends of a list, and lists with any speakers", () => {
  const [a, b, c] = [segment('"a"'), segment(String.raw`"\"}],{\\"`), segment('""')];
  const insert = { ...removal(0, 0), json: a, segments: 1 };
  const rows: [base: string[], change: ReturnType<typeof removal>, result: string[] | undefined][] =
    [
      [[], removal(0, 0), undefined],
      [[], insert, [a]],
      [[a], removal(0, 1), []],
      [[a, b, c], removal(0, 1), [b, c]],
      [[a, b, c], removal(2, 3), [a, b]],
      [[a, b, c], removal(0, 3), []],
      [[a, b, c], { ...insert, startIndex: 3, endIndex: 3 }, [a, b, c, a]],
      [[b, b], { ...insert, startIndex: 1, endIndex: 1 }, [b, a, b]],
      [[b, a], { ...insert, startIndex: 1, endIndex: 2 }, undefined],
    ];
  for (const [base, change, result] of rows) {
    const spliced = spliceSegments({
      languageCode: "is-IS",
      segments: packed(`[${base.join(",")}]`),
      changes: [change],
    });
    assert.ok("packed" in spliced, JSON.stringify(spliced));
    assert.deepEqual(spliced.packed?.sha256, result && hashOf(`[${result.join(",")}]`));
  }
});

test("spliceSegments() refuses segments that are not in the stored form", () => {
  const rows = [
    '[{"speakerId":"a","startTime":"0s"}]',
    '[{"startTime":"0s"}]',
    `[${segment('"a"')} ,${segment('"b"')}]`,
    '[{"speakerId":"a',
  ];
  for (const text of rows) {
    const splice = () =>
      spliceSegments({ languageCode: "is-IS", segments: packed(text), changes: [removal(0, 2)] });
    assert.throws(splice, /have another form at byte 1/, text);
  }
});
