import assert from "node:assert/strict";
import { test } from "node:test";
import { isMessage, toJsonString, type DescMessage } from "@bufbuild/protobuf";
import fc from "fast-check";
import { arbitraryMessage } from "../../test/fixtures/arbitrary-message.ts";
import {
  SpeakerInfoSchema,
  TranscriptMetadataSchema,
  TranscriptSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { writeJson } from "../transcoding/write-response.ts";
import { listedJson } from "./listed-json.ts";
import { transcriptMessage } from "./transcript-message.ts";

const strings = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("__proto__", "constructor", "name", '"', "\u2028", "þ"),
);
const metadatas = arbitraryMessage(TranscriptMetadataSchema, {
  depth: 2,
  strings,
  inAny: SpeakerInfoSchema,
}).filter((message): message is TranscriptMetadata => isMessage(message, TranscriptMetadataSchema));
const media = fc.record({
  id: fc.constant(newId()),
  durationMs: fc.option(fc.nat(), { nil: undefined }),
  fileType: fc.option(fc.constantFrom("AUDIO" as const, "VIDEO" as const), { nil: undefined }),
  hasWaveform: fc.boolean(),
  isFirst: fc.boolean(),
  fileName: fc.constantFrom("", "fundur.wav"),
});
const noFacts = {
  id: undefined,
  durationMs: undefined,
  fileType: undefined,
  hasWaveform: false,
  fileName: "",
};
const versions = fc.record({
  id: fc.constant(newId()),
  parentId: fc.option(fc.constant(newId())),
  createdAt: fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }),
  kind: fc.constantFrom(null, "EDITED", "ALIGNED"),
  author: fc.constantFrom("", `members/${newId()}`),
  authorName: strings,
  note: strings,
});
const links = fc.record({ uri: strings, waveformUri: strings });

test("listedJson() writes the same JSON as the library", () => {
  fc.assert(
    fc.property(metadatas, media, versions, links, (metadata, media, version, links) => {
      const stored = { id: newId(), media, version };
      const metadataJson = toJsonString(TranscriptMetadataSchema, metadata);
      const general = writeJson(
        TranscriptSchema,
        transcriptMessage({ ...stored, metadata }, links, []),
      );
      const written = listedJson({ ...stored, metadataJson }, links);
      assert.deepEqual(JSON.parse(written), JSON.parse(general));
      assert.equal(written.length, general.length);
    }),
    { numRuns: 1_000 },
  );
});

test("listedJson() leaves out fields of a later version, and has every field of the contract that is not in a oneof", () => {
  const stored = {
    id: newId(),
    media: { ...noFacts, isFirst: true },
    version: {
      id: newId(),
      parentId: null,
      createdAt: new Date(0),
      kind: null,
      author: "",
      authorName: "",
      note: "",
    },
    metadataJson: '{"later": 1, "speakers": {"1": {"voice": "low"}}}',
  };
  const { metadata } = JSON.parse(listedJson(stored, { uri: "", waveformUri: "" }));
  const names = (schema: DescMessage) =>
    schema.fields.filter(({ oneof }) => !oneof).map(({ jsonName }) => jsonName);
  assert.deepEqual(Object.keys(metadata), names(TranscriptMetadataSchema));
  const unset = { ageGroup: "AGE_GROUP_UNSPECIFIED", gender: "GENDER_UNSPECIFIED" };
  assert.deepEqual(metadata.speakers, { 1: { fullName: "", ...unset } });
});
