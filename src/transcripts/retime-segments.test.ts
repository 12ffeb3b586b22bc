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
  },
  { requiredKeys: ["text", "startMs", "endMs"] },
);
const segment = fc.record({
  startMs: ms,
  endMs: ms,
  speakerId: fc.string({ unit: "grapheme", maxLength: 3 }),
  words: fc.array(word, { maxLength: 4 }),
});

test("retimeSegments() keeps words, confidences and speakers, and gives ordered times within the recording", () => {
  fc.assert(
    fc.property(fc.array(segment), fc.infiniteStream(ms), (segments, stream) => {
      const count = segments.flatMap(({ words }) => words).length;
      const sorted = [...stream.take(2 * count)].toSorted((a, b) => a - b);
      const times = Float64Array.from(sorted);
      const durationMs = Math.max(50_000, ...sorted);
      const result = retimeSegments({ segments: packed(segments), times, durationMs });
      const timed = spokenSegments(unpackedJson(result));
      const textOf = (all: readonly SpokenSegment[]) =>
        all.map(({ speakerId, words }) => [
          speakerId,
          words.map(({ text, confidence }) => [text, confidence]),
        ]);
      assert.deepEqual(textOf(timed), textOf(segments));
      const found = timed.flatMap(({ words }) => words.flatMap((one) => [one.startMs, one.endMs]));
      assert.deepEqual(found, sorted);
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
