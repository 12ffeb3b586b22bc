import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { retimeSegments, segmentWords } from "./retime-segments.ts";
import { spokenJson, spokenSegments, type SpokenSegment } from "./spoken.ts";
import { unpackedJson } from "./write-file.ts";

function packed(segments: readonly SpokenSegment[]) {
  const json = Buffer.from(spokenJson(segments));
  return { jsonZstd: zstdCompressSync(json), jsonBytes: json.length };
}

const ms = fc.integer({ min: 0, max: 100_000 });
const word = fc.record(
  {
    text: fc.string({ unit: "grapheme" }),
    startMs: ms,
    endMs: ms,
    confidence: fc.constantFrom(0, 0.853, 1),
    estimatedTimes: fc.constant(true as const),
    spoken: fc.constantFrom("", "tvö hundruð og fimmtíu", " hundrað ", "fimm\tsex"),
  },
  { requiredKeys: ["text", "startMs", "endMs"] },
);
const segment = fc.record({
  startMs: ms,
  endMs: ms,
  speakerId: fc.string({ unit: "grapheme", maxLength: 3 }),
  words: fc.array(word, { maxLength: 4 }),
});

test("retimeSegments() keeps words, spoken words, confidences and speakers, and gives ordered times within the recording", () => {
  fc.assert(
    fc.property(fc.array(segment), fc.infiniteStream(ms), (segments, stream) => {
      const said = segmentWords(packed(segments)).flatMap(({ words }) => words);
      const count = said.length;
      const sorted = [...stream.take(2 * count)].toSorted((a, b) => a - b);
      const times = Float64Array.from(sorted);
      const durationMs = Math.max(50_000, ...sorted);
      const result = retimeSegments({ segments: packed(segments), times, durationMs });
      const timed = spokenSegments(unpackedJson(result));
      const textOf = (all: readonly SpokenSegment[]) =>
        all.map(({ speakerId, words }) => [
          speakerId,
          words.map(({ text, confidence, spoken }) => [text, confidence, spoken]),
        ]);
      assert.deepEqual(textOf(timed), textOf(segments));
      assert.ok(timed.every(({ words }) => words.every((one) => !one.estimatedTimes)));
      let next = 0;
      for (const { text, spoken = "", startMs, endMs } of timed.flatMap(({ words }) => words)) {
        const own = spoken.trim() === "" ? [text.trim()] : spoken.trim().split(/\s+/);
        assert.deepEqual(said.slice(next, next + own.length), own);
        // A word begins with the first of its spoken words, and ends with the last.
        assert.equal(startMs, sorted[2 * next]);
        next += own.length;
        assert.equal(endMs, sorted[2 * next - 1]);
      }
      assert.equal(next, count);
      let before = 0;
      for (const { startMs, endMs, words } of timed) {
        assert.ok(startMs >= before && startMs <= endMs && endMs <= durationMs);
        before = startMs;
        if (words.length === 0) continue;
        assert.deepEqual([startMs, endMs], [words.at(0)?.startMs, words.at(-1)?.endMs]);
      }
    }),
  );
});

test("retimeSegments() refuses times of another number of words", () => {
  const segments = packed([
    { startMs: 0, endMs: 1, speakerId: "", words: [{ text: "já", startMs: 0, endMs: 1 }] },
  ]);
  const times = Float64Array.of(0, 1, 2, 3);
  assert.throws(() => retimeSegments({ segments, times, durationMs: 9 }), /2 words for 1 words/);
});

test("segmentWords() returns words without the whitespace around them", () => {
  const words = ["góðan ", "dag,\n", "  "].map((text) => ({ text, startMs: 0, endMs: 0 }));
  const segments = packed([{ startMs: 1_500, endMs: 2_000, speakerId: "1", words }]);
  assert.deepEqual(segmentWords(segments), [
    { startMs: 1_500, endMs: 2_000, words: ["góðan", "dag,", ""] },
  ]);
});

test("segmentWords() returns the spoken words of a number, which have the times that it spans", () => {
  const words = [
    { text: "kostar ", startMs: 0, endMs: 400 },
    { text: "250 ", startMs: 400, endMs: 900, spoken: "tvö hundruð og fimmtíu" },
    { text: "kr.", startMs: 900, endMs: 1_000, spoken: "krónur" },
  ];
  const segments = packed([{ startMs: 0, endMs: 1_000, speakerId: "", words }]);
  const said = ["kostar", "tvö", "hundruð", "og", "fimmtíu", "krónur"];
  assert.deepEqual(segmentWords(segments), [{ startMs: 0, endMs: 1_000, words: said }]);
  const times = Float64Array.from(said.flatMap((_, at) => [100 * at, 100 * at + 90]));
  const result = retimeSegments({ segments, times, durationMs: 1_000 });
  const [timed] = spokenSegments(unpackedJson(result));
  assert.deepEqual(timed?.words, [
    { text: "kostar ", startMs: 0, endMs: 90 },
    { text: "250 ", startMs: 100, endMs: 490, spoken: "tvö hundruð og fimmtíu" },
    { text: "kr.", startMs: 500, endMs: 590, spoken: "krónur" },
  ]);
});
