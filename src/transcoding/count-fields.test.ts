import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { MSchema } from "../../test/gen/transcoding_pb.ts";
import {
  CreateTranscriptRequestSchema,
  SegmentSchema,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { countElements, countFields } from "./count-fields.ts";

test("countFields() counts fields at all levels, map entries and packed elements", () => {
  const rows: [bytes: Uint8Array, count: number][] = [
    [new Uint8Array(), 0],
    [toBinary(CreateTranscriptRequestSchema, create(CreateTranscriptRequestSchema, {})), 0],
    [
      toBinary(
        CreateTranscriptRequestSchema,
        create(CreateTranscriptRequestSchema, {
          transcript: {
            metadata: { keywords: ["a", "b"], speakers: { 1: { fullName: "x" } } },
            segments: [{ words: [{ word: "x" }, {}] }, {}],
          },
        }),
      ),
      // The fields are the transcript, the metadata and two keywords; a map entry, its key, its
      // value and the name; two segments, two words and one text.
      13,
    ],
    // These are unknown fields, the last of which is incomplete.
    [Buffer.from([0x78, 1, 0x78, 1, 0x78]), 3],
    [Buffer.from([0x78, 1, 0x0a, 0x7f]), 2],
  ];
  for (const [bytes, count] of rows) {
    assert.equal(countFields(CreateTranscriptRequestSchema, bytes), count);
  }
  const list = Buffer.alloc(1_000, Buffer.from([0x1a, 0]));
  assert.equal(countFields(TranscriptSchema, list, 499), 500, "one past the limit");
  assert.equal(countFields(TranscriptSchema, list), 500);
  // A parser that skips a group reads all of the group.
  assert.equal(countFields(TranscriptSchema, Buffer.from([0x7b, 0x7c]), 10), 11);
  const packed = toBinary(MSchema, create(MSchema, { ri: Array.from({ length: 50 }, () => 1) }));
  assert.equal(countFields(MSchema, packed), 51);
});

test("countFields() accepts any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const count = countFields(CreateTranscriptRequestSchema, bytes, 50);
      assert.ok(count >= 0 && count <= 51);
    }),
    { numRuns: runs(2_000) },
  );
});

test("countElements() counts the elements of a list inside the messages of another list", () => {
  const path = [TranscriptSchema.field.segments.number, SegmentSchema.field.words.number];
  const bytes = toBinary(
    TranscriptSchema,
    create(TranscriptSchema, {
      name: "n",
      segments: [{ words: [{}, { word: "x" }] }, {}, { words: [{}], speakerId: "1" }],
    }),
  );
  assert.deepEqual(
    [3, 2].map((max) => countElements(bytes, path, max)),
    [3, 3],
  );
  assert.equal(countElements(bytes, path, 1), 2, "one past the limit");
  assert.equal(countElements(bytes, path.slice(0, 1), 10), 3);
  assert.equal(countElements(Buffer.from([0x1a, 9]), path, 10), 0);
});
