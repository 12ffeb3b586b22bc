import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import {
  SegmentSchema,
  TranscriptSchema,
  UpdateTranscriptRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { cutBinary, cutJson } from "./cut-message.ts";
import { lazyPathOf } from "./lazy-path.ts";

const deep = lazyPathOf(UpdateTranscriptRequestSchema)?.names ?? [];
const flat = lazyPathOf(TranscriptSchema)?.names ?? [];

test("lazyPathOf() finds the path to a lazy list", () => {
  assert.deepEqual(
    [deep, flat].map((path) => path.map(({ name }) => name)),
    [["transcript", "segments"], ["segments"]],
  );
  assert.equal(lazyPathOf(SegmentSchema), undefined);
});

test("cutJson() returns the list, and the rest with an empty list", () => {
  const rows: [json: string, path: typeof deep, parts: [string, string] | undefined][] = [
    ['{"segments":[{"a":1}],"uri":"x"}', flat, ['{"segments":[],"uri":"x"}', '[{"a":1}]']],
    [
      '{"updateMask":"a","transcript":{"uri":"é","segments":[1] } }',
      deep,
      ['{"updateMask":"a","transcript":{"uri":"é","segments":[] } }', "[1] "],
    ],
    ['{"transcript":null}', deep, undefined],
    ['{"transcript":{"segments":[],"segments":[]}}', deep, undefined],
    ['{"segments":[]}', deep, undefined],
  ];
  for (const [json, path, parts] of rows) {
    const cut = cutJson(Buffer.from(json), path, 10);
    const text = cut && [cut.rest, cut.list].map((bytes) => Buffer.from(bytes).toString());
    // Whitespace after the list can be in either part.
    assert.deepEqual(text?.map(trimmed), parts?.map(trimmed), json);
  }
  const eleven = Buffer.from(`{"segments":[${"1,".repeat(10)}1]}`);
  assert.throws(() => cutJson(eleven, flat, 10), /segments: has more than 10 segments/);
});

function trimmed(text: string): string {
  return text.replaceAll(" ", "");
}

type Init = MessageInitShape<typeof UpdateTranscriptRequestSchema>;

test("cutBinary() separates the list from the message, wherever the elements of the list are", () => {
  const text = fc.string({ maxLength: 20 });
  const request: fc.Arbitrary<Init> = fc.record({
    transcript: fc.record({
      name: text,
      segments: fc.array(fc.record({ speakerId: text }), { maxLength: 5 }),
      metadata: fc.record({ subject: text, keywords: fc.array(text, { maxLength: 3 }) }),
    }),
    updateMask: fc.record({ paths: fc.array(text, { maxLength: 2 }) }),
  });
  fc.assert(
    // Concatenated messages are merged, as are the parts of a message that is split.
    fc.property(fc.array(request, { maxLength: 3 }), (requests) => {
      const bytes = Buffer.concat(
        requests.map((init) =>
          toBinary(UpdateTranscriptRequestSchema, create(UpdateTranscriptRequestSchema, init)),
        ),
      );
      const whole = fromBinary(UpdateTranscriptRequestSchema, bytes);
      const { rest, list } = cutBinary(bytes, deep, 100);
      const { segments } = fromBinary(TranscriptSchema, list);
      const around = fromBinary(UpdateTranscriptRequestSchema, rest);
      assert.deepEqual(around.transcript?.segments ?? [], []);
      if (around.transcript) around.transcript.segments = segments;
      assert.deepEqual(around, whole);
    }),
    { numRuns: runs(500) },
  );
});

test("cutBinary() refuses too many elements and malformed messages", () => {
  const refuse = (bytes: number[], message: RegExp) => {
    const cut = () => cutBinary(Buffer.from(bytes), flat, 2);
    assert.throws(cut, (error) => error instanceof ServiceError && message.test(error.message));
  };
  refuse([0x1a, 0, 0x1a, 0, 0x1a, 0], /^segments: has more than 2 segments/);
  refuse([0x1a, 5], /^body: is not a binary Protobuf message/);
  refuse([0x7f], /^body: is not a binary Protobuf message/);
  refuse([0x0a], /^body: is not a binary Protobuf message/);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      try {
        cutBinary(bytes, deep, 5);
      } catch (error) {
        assert.ok(error instanceof ServiceError);
      }
    }),
    { numRuns: runs(2_000) },
  );
});
