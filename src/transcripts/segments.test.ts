import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { create, equals, toJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  SegmentSchema,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { charCount, packSegments, segmentsJson, textLength, unpackSegments } from "./segments.ts";

const time = fc.record({
  seconds: fc.bigInt({ min: 0n, max: 3_600_000n }),
  nanos: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 999 }).map((ms) => ms * 1_000_000),
    fc.integer({ min: 0, max: 999_999 }).map((us) => us * 1000),
    fc.integer({ min: 0, max: 999_999_999 }),
  ),
});
const word = fc.record({
  startTime: time,
  endTime: time,
  word: fc.string({ unit: "grapheme" }),
  confidence: fc.option(
    fc.nat(1000).map((thousandths) => thousandths / 1000),
    { nil: undefined },
  ),
  spoken: fc.option(fc.string({ unit: "grapheme" }), { nil: undefined }),
  estimatedTimes: fc.constantFrom(undefined, true),
});
const segment = fc
  .record({
    startTime: time,
    endTime: time,
    words: fc.array(word, { maxLength: 5 }),
    speakerId: fc.string(),
  })
  .map((init) => create(SegmentSchema, init));

test("packSegments() stores the JSON of the API, and unpackSegments() reverses it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 5 }), async (segments) => {
      const packed = await packSegments(segments);
      const json = zstdDecompressSync(packed.jsonZstd);
      assert.equal(packed.jsonBytes, json.length);
      const wire = segments.map((each) =>
        toJson(SegmentSchema, each, { alwaysEmitImplicit: true }),
      );
      assert.deepEqual(JSON.parse(json.toString()), wire);
      const [before, after] = [segments, await unpackSegments(packed)].map((segments) =>
        create(TranscriptSchema, { segments }),
      );
      assert.ok(before && after && equals(TranscriptSchema, before, after));
    }),
    { numRuns: 200 },
  );
});

test("packSegments() produces equal hashes for equal segments, and different hashes for different ones", async () => {
  const one = (word: string) => [create(SegmentSchema, { words: [{ word }] })];
  const [a, again, b] = [
    await packSegments(one("a")),
    await packSegments(one("a")),
    await packSegments(one("b")),
  ];
  assert.deepEqual(a.sha256, again.sha256);
  assert.notDeepEqual(a.sha256, b.sha256);
});

test("segmentsJson() writes a confidence with three decimals, and none where there is none", () => {
  const rows: [confidence: number | undefined, json: string][] = [
    [undefined, '{"word":"a"}'],
    [0, '{"word":"a","confidence":0}'],
    [-0, '{"word":"a","confidence":0}'],
    [1, '{"word":"a","confidence":1}'],
    [0.5, '{"word":"a","confidence":0.5}'],
    [0.123_456, '{"word":"a","confidence":0.123}'],
    [0.999_95, '{"word":"a","confidence":1}'],
    [1e-9, '{"word":"a","confidence":0}'],
    // A float of Protobuf, which is 0.8529999852180481.
    [Math.fround(0.853), '{"word":"a","confidence":0.853}'],
  ];
  for (const [confidence, json] of rows) {
    const words = [{ word: "a", confidence }];
    assert.equal(segmentsJson([{ words, speakerId: "" }]), `[{"words":[${json}],"speakerId":""}]`);
  }
});

test("segmentsJson() writes only estimated times that are estimated", () => {
  const json = (estimatedTimes: boolean | undefined) =>
    segmentsJson([{ words: [{ word: "a", estimatedTimes }], speakerId: "" }]);
  assert.equal(json(true), '[{"words":[{"word":"a","estimatedTimes":true}],"speakerId":""}]');
  assert.equal(json(false), json(undefined));
});

test("textLength() counts the characters and bytes of all words", () => {
  const segments = [
    create(SegmentSchema, { words: [{ word: "Þá " }, { word: "🎧" }] }),
    create(SegmentSchema, { words: [{ word: "" }, { word: "x" }] }),
  ];
  assert.deepEqual(textLength(segments), { chars: 5, bytes: 10 });
  assert.deepEqual(textLength([]), { chars: 0, bytes: 0 });
});

test("charCount() counts characters as the string iterator does", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(0xffff)), (units) => {
      const text = String.fromCharCode(...units);
      assert.equal(charCount(text), Array.from(text).length);
    }),
  );
  assert.equal(charCount("\ud83c\ud83c\udfa7\udfa7"), 3);
});
