import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  TranscriptSchema,
  type Segment,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { segmentsJson } from "./segments.ts";
import { wireSegments } from "./wire-segments.ts";

const duration = fc.option(
  fc.record({
    seconds: fc.oneof(fc.nat(200), fc.nat(3_600_000)).map(BigInt),
    nanos: fc.oneof(
      fc.constant(0),
      fc.nat(999).map((ms) => ms * 1e6),
      fc.nat(999_999_999),
    ),
  }),
  { nil: undefined },
);
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", ' "þ" ', "x".repeat(127), "ð".repeat(300)),
);
const times = { startTime: duration, endTime: duration };
const confidence = fc.option(
  fc.nat(1000).map((thousandths) => thousandths / 1000),
  { nil: undefined },
);
const spoken = fc.option(text, { nil: undefined });
const estimatedTimes = fc.constantFrom(undefined, true);
const word = fc.record({ ...times, word: text, confidence, spoken, estimatedTimes });
const words = fc.array(word, { maxLength: 12 });
const segments = fc.array(fc.record({ ...times, words, speakerId: text }), { maxLength: 8 });

function wireOf(given: readonly Segment[]): Uint8Array {
  const json = Buffer.from(segmentsJson(given));
  return wireSegments({ jsonZstd: zstdCompressSync(json), jsonBytes: json.length });
}

test("wireSegments() writes the same bytes as the library", () => {
  fc.assert(
    fc.property(segments, (given) => {
      const message = create(TranscriptSchema, { segments: given });
      assert.deepEqual(
        wireOf(message.segments),
        new Uint8Array(toBinary(TranscriptSchema, message)),
      );
    }),
  );
});

test("wireSegments() writes a segment of megabytes, whose length takes four bytes", () => {
  const time = { seconds: 28_799n, nanos: 1_000_000 };
  const word = { startTime: time, endTime: time, word: "orð ".repeat(200) };
  const given = [
    { startTime: time, endTime: time, words: Array.from({ length: 3_000 }, () => word) },
  ];
  const message = create(TranscriptSchema, { segments: given });
  const wire = wireOf(message.segments);
  assert.ok(wire.length > 1 << 21);
  assert.deepEqual(fromBinary(TranscriptSchema, wire), message);
});
