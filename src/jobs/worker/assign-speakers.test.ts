import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  SegmentSchema,
  WordSchema,
  type Segment,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, msOfDuration } from "../../std/duration.ts";
import { assertLinear } from "../../../test/fixtures/growth.ts";
import { assignSpeakers, type SpeakerSpan, speakersIn } from "./assign-speakers.ts";

/** Creates a segment with words of 300 ms, one every 400 ms. */
function segmentAt(startMs: number, text: string): Segment {
  const words = text.split(" ").map((word, index) =>
    create(WordSchema, {
      word: `${word} `,
      startTime: durationFromMs(startMs + 400 * index),
      endTime: durationFromMs(startMs + 400 * index + 300),
    }),
  );
  const endMs = startMs + 400 * words.length - 100;
  return create(SegmentSchema, {
    startTime: durationFromMs(startMs),
    endTime: durationFromMs(endMs),
    words,
  });
}

const span = (speakerId: string, startMs: number, endMs: number): SpeakerSpan => ({
  speakerId,
  startMs,
  endMs,
});

const spoken = (segments: readonly Segment[]) =>
  segments.map(({ speakerId, words, startTime, endTime }) => [
    speakerId,
    words.map(({ word }) => word).join(""),
    startTime && msOfDuration(startTime),
    endTime && msOfDuration(endTime),
  ]);

test("assignSpeakers() sets the speakers, and splits segments where the speaker changes", () => {
  const segments = [segmentAt(0, "a b c d"), segmentAt(5000, "e f"), segmentAt(9000, "g")];
  const spans = [span("2", 850, 6000), span("1", 0, 800)];
  assert.deepEqual(spoken(assignSpeakers(segments, spans)), [
    ["1", "a b ", 0, 700],
    ["2", "c d ", 800, 1500],
    ["2", "e f ", 5000, 5700],
    ["", "g ", 9000, 9300],
  ]);
});

test("assignSpeakers() assigns a word that is not near any turn to the speaker of its neighbors", () => {
  const long = [segmentAt(0, "a b c d e f g h i j k l")];
  assert.deepEqual(spoken(assignSpeakers(long, [span("1", 2000, 2400)])), [
    ["1", "a b c d e f g h i j k l ", 0, 4700],
  ]);
});

test("assignSpeakers() changes nothing if there are no turns", () => {
  const segments = [segmentAt(0, "a b"), segmentAt(2000, "c")];
  assert.deepEqual(assignSpeakers(segments, []), segments);
});

test("assignSpeakers() detects an interruption in the middle of a long turn", () => {
  const segments = [segmentAt(0, "a b c d e f")];
  const spans = [span("1", 0, 10_000), span("2", 790, 1110)];
  assert.deepEqual(
    spoken(assignSpeakers(segments, spans)).map(([id, text]) => `${id}: ${text}`),
    ["1: a b ", "2: c ", "1: d e f "],
  );
});

test("assignSpeakers() loses no words and changes no order or times, for any speakers", () => {
  const texts = fc.array(fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 6 }), {
    maxLength: 5,
  });
  const turns = fc.array(
    fc.record({
      speakerId: fc.constantFrom("1", "2", "3"),
      startMs: fc.integer({ min: 0, max: 15_000 }),
      ms: fc.integer({ min: 0, max: 5000 }),
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(texts, turns, (said, spoken) => {
      const segments = said.map((words, index) => segmentAt(index * 3000, words.join(" ")));
      const spans = spoken.map(({ speakerId, startMs, ms }) =>
        span(speakerId, startMs, startMs + ms),
      );
      const found = assignSpeakers(segments, spans);
      assert.deepEqual(
        found.flatMap(({ words }) => words),
        segments.flatMap(({ words }) => words),
      );
      for (const { words, startTime, endTime } of found) {
        assert.deepEqual([startTime, endTime], [words.at(0)?.startTime, words.at(-1)?.endTime]);
      }
      assert.ok(speakersIn(found).every((id) => spans.some(({ speakerId }) => speakerId === id)));
    }),
  );
});

test("assignSpeakers() takes linear time for a recording of hours, since it runs next to streams", () => {
  const input = (size: number) => ({
    segments: Array.from({ length: size }, (_, index) =>
      segmentAt(index * 8000, "a b c d e f g h i j k l m n o p q r s"),
    ),
    spans: Array.from({ length: 2 * size }, (_, index) =>
      span(String(index % 2), index * 4000, index * 4000 + 3900),
    ),
  });
  const found = assertLinear("segments", 375, {
    input,
    run: ({ segments, spans }) => assignSpeakers(segments, spans),
  });
  assert.equal(found.length, 6000);
  assert.deepEqual(speakersIn(found), ["0", "1"]);
});
