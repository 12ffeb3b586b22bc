import assert from "node:assert/strict";
import { test } from "node:test";
import { create, equals, fromJson, toJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  TranscriptMetadataSchema,
  UpdateTranscriptRequestSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callerFields, mergeMetadata, readPatch, type CallerField } from "./merge.ts";

type Update = MessageInitShape<typeof UpdateTranscriptRequestSchema>;

function patchOf(transcript: Update["transcript"], ...paths: string[]) {
  const updateMask = { paths };
  const request = create(UpdateTranscriptRequestSchema, {
    ...(transcript && { transcript }),
    updateMask,
  });
  const patch = readPatch(request);
  return Array.isArray(patch)
    ? patch.map(({ field, description }) => `${field}: ${description}`)
    : { fields: [...patch.fields], segments: patch.segments };
}

const nothing = [
  "metadata: metadata or segments is required",
  "segments: metadata or segments is required",
];

test("readPatch() updates the fields that the mask names", () => {
  const rows: [paths: string[], fields: CallerField[], segments: boolean][] = [
    [["metadata.subject"], ["subject"], false],
    [["metadata.file_type", "metadata.languageCode"], ["fileType", "languageCode"], false],
    [["metadata.additional_metadata"], ["additionalMetadata"], false],
    [["segments"], [], true],
    [["segments", "metadata.keywords", "metadata.keywords"], ["keywords"], true],
  ];
  for (const [paths, fields, segments] of rows) {
    assert.deepEqual(patchOf({}, ...paths), { fields, segments }, paths.join());
  }
  assert.deepEqual(patchOf(undefined, "metadata.subject"), {
    fields: ["subject"],
    segments: false,
  });
});

test("readPatch() updates the fields that are set if there is no mask, or the mask names metadata", () => {
  const metadata = { subject: "s", keywords: ["k"], originalUri: "http://x/" };
  const fields = ["subject", "keywords"];
  const words = [{ words: [] }];
  assert.deepEqual(patchOf({ metadata }), { fields, segments: false });
  assert.deepEqual(patchOf({ metadata, segments: words }), { fields, segments: true });
  assert.deepEqual(patchOf({ segments: words }), { fields: [], segments: true });
  assert.deepEqual(patchOf({ metadata: {}, segments: words }), { fields: [], segments: true });
  assert.deepEqual(patchOf({ metadata }, "metadata"), { fields, segments: false });
  assert.deepEqual(patchOf({ metadata }, "metadata", "metadata.dictation"), {
    fields: [...fields, "dictation"],
    segments: false,
  });
});

test("readPatch() refuses an empty update", () => {
  assert.deepEqual(patchOf({}), nothing);
  assert.deepEqual(patchOf(undefined), nothing);
  assert.deepEqual(patchOf({ name: "transcripts/x", uri: "x" }), nothing);
  assert.deepEqual(patchOf({}, "metadata"), nothing);
  const empty = ["metadata: sets no field: to clear one, name it in updateMask"];
  assert.deepEqual(patchOf({ metadata: {} }), empty);
  assert.deepEqual(patchOf({ metadata: {} }, "metadata"), empty);
});

test("readPatch() refuses output-only fields in a mask, or alone", () => {
  const why = "is set by the service and cannot be updated";
  const paths = ["name", "uri", "version.name", "metadata.recording_duration"];
  assert.deepEqual(
    patchOf({ metadata: { subject: "s" } }, "metadata.subject", ...paths),
    paths.map((path) => `updateMask: ${JSON.stringify(path)} ${why}`),
  );
  const metadata = { originalUri: "http://x/", originalCharLength: 9 };
  const named = [`metadata.originalUri: ${why}`, `metadata.originalCharLength: ${why}`];
  assert.deepEqual(patchOf({ metadata }), named);
  assert.deepEqual(patchOf({ metadata }, "metadata"), named);
  const segments = [{ words: [] }];
  assert.deepEqual(patchOf({ metadata, segments }), { fields: [], segments: true });
});

test("readPatch() reports every unknown path", () => {
  const paths = [
    "metadata.owner",
    "segment",
    "segments.words",
    "metadata.keywords.x",
    "*",
    "",
    "metadata.",
  ];
  assert.deepEqual(
    patchOf({ metadata: { subject: "s" } }, "metadata.subject", ...paths),
    paths.map((path) => `updateMask: ${JSON.stringify(path)} is not a field that can be updated`),
  );
});

const key = fc.oneof(fc.constantFrom("__proto__", "constructor", "toString"), fc.string());
const metadata = fc
  .record({
    fileType: fc.constantFrom("AUDIO", "VIDEO"),
    languageCode: fc.string(),
    originalUri: fc.string(),
    subject: fc.string(),
    description: fc.string(),
    keywords: fc.array(fc.string()),
    additionalMetadata: fc.dictionary(key, fc.string()),
    speakers: fc.dictionary(key, fc.record({ name: fc.string() })),
    recordingDuration: fc.nat(1e6).map((seconds) => `${seconds}s`),
    dictation: fc.boolean(),
    dataSource: fc.constantFrom("URI", "USER"),
    originalCharLength: fc.nat(1e6),
  })
  .map((json) => fromJson(TranscriptMetadataSchema, json));

/** Every field by its JSON name, so that maps with a key __proto__ compare too. */
function jsonOf(metadata: TranscriptMetadata): Map<string, string> {
  const options = { alwaysEmitImplicit: true };
  const json: Record<string, unknown> = JSON.parse(
    toJsonString(TranscriptMetadataSchema, metadata, options),
  );
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(json)) texts.set(name, JSON.stringify(value));
  return texts;
}

test("mergeMetadata() replaces the named fields and keeps the others", () => {
  fc.assert(
    fc.property(metadata, metadata, fc.subarray([...callerFields]), (current, from, fields) => {
      const [before, source] = [jsonOf(current), jsonOf(from)];
      const merged = jsonOf(mergeMetadata(current, from, fields));
      for (const [name, value] of merged) {
        const isNamed = fields.some((field) => field === name);
        assert.equal(value, (isNamed ? source : before).get(name), name);
      }
      assert.deepEqual([jsonOf(current), jsonOf(from)], [before, source]);
    }),
  );
});

test("mergeMetadata() does not change its inputs", () => {
  const from = create(TranscriptMetadataSchema, { keywords: ["a"] });
  const merged = mergeMetadata(create(TranscriptMetadataSchema), from, ["keywords"]);
  merged.keywords.push("b");
  assert.deepEqual(from.keywords, ["a"]);
  const cleared = mergeMetadata(merged, undefined, ["keywords"]);
  assert.ok(equals(TranscriptMetadataSchema, cleared, create(TranscriptMetadataSchema)));
});
