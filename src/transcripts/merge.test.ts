import assert from "node:assert/strict";
import { test } from "node:test";
import { create, equals, fromJson, toJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  TranscriptMetadataSchema,
  UpdateTranscriptRequestSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import {
  callerFields,
  checkDictation,
  mergeMetadata,
  readPatch,
  type CallerField,
} from "./merge.ts";

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

const fromUrl = { case: "originalUri" as const, value: "http://x/" };

test("readPatch() updates the fields that are set if there is no mask, or the mask names metadata", () => {
  const metadata = { subject: "s", keywords: ["k"], originalSource: fromUrl };
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

test("readPatch() refuses output-only fields that are in a mask or are the only fields", () => {
  const why = "is set by the service and cannot be updated";
  const paths = ["name", "uri", "version.name", "metadata.recording_duration"];
  assert.deepEqual(
    patchOf({ metadata: { subject: "s" } }, "metadata.subject", ...paths),
    paths.map((path) => `updateMask: ${JSON.stringify(path)} ${why}`),
  );
  const metadata = { originalSource: fromUrl, originalCharLength: 9 };
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
const source = fc.oneof(
  fc.constant({}),
  fc.record({ originalUri: fc.string() }),
  fc.record({ originalFilename: fc.string() }),
  fc.record({ dictation: fc.boolean() }),
);
const metadata = fc
  .record({
    fileType: fc.constantFrom("AUDIO", "VIDEO"),
    languageCode: fc.string(),
    subject: fc.string(),
    description: fc.string(),
    keywords: fc.array(fc.string()),
    additionalMetadata: fc.dictionary(key, fc.string()),
    speakers: fc.dictionary(key, fc.record({ fullName: fc.string() })),
    recordingDuration: fc.nat(1e6).map((seconds) => `${seconds}s`),
    dataSource: fc.constantFrom("URI", "USER"),
    originalCharLength: fc.nat(1e6),
  })
  .chain((json) =>
    source.map((source) => fromJson(TranscriptMetadataSchema, { ...json, ...source })),
  );

/** Returns every field by its JSON name, so that maps with a key __proto__ are compared too. */
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
      const isFromService = before.has("originalUri") || before.has("originalFilename");
      for (const name of new Set([...before.keys(), ...source.keys()])) {
        const isKept = name === "dictation" && isFromService;
        const isNamed = !isKept && fields.some((field) => field === name);
        assert.equal(merged.get(name), (isNamed ? source : before).get(name), name);
      }
      assert.deepEqual([jsonOf(current), jsonOf(from)], [before, source]);
    }),
  );
});

test("checkDictation() refuses only `true` for a recording with another source", () => {
  const of = (originalSource: TranscriptMetadata["originalSource"]) =>
    create(TranscriptMetadataSchema, { originalSource });
  const yes = of({ case: "dictation", value: true });
  const no = of({ case: "dictation", value: false });
  const sources = [
    of({ case: undefined }),
    yes,
    of({ case: "originalUri", value: "http://a/" }),
    of({ case: "originalFilename", value: "a.mp3" }),
  ];
  const found = sources.map((source) => [yes, no].map((sent) => [...checkDictation(source, sent)]));
  const refused = (name: string) => [
    {
      field: "metadata.dictation",
      description: `cannot be true: the transcript has the original source ${name}`,
    },
  ];
  assert.deepEqual(found, [
    [[], []],
    [[], []],
    [refused("originalUri"), []],
    [refused("originalFilename"), []],
  ]);
});

test("mergeMetadata() does not change its inputs", () => {
  const from = create(TranscriptMetadataSchema, { keywords: ["a"] });
  const merged = mergeMetadata(create(TranscriptMetadataSchema), from, ["keywords"]);
  merged.keywords.push("b");
  assert.deepEqual(from.keywords, ["a"]);
  const cleared = mergeMetadata(merged, undefined, ["keywords"]);
  assert.ok(equals(TranscriptMetadataSchema, cleared, create(TranscriptMetadataSchema)));
});
