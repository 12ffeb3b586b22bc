import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import {
  RecognizeResponseSchema,
  StreamingRecognizeResponseSchema,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  CreateTranscriptResponseSchema,
  ListTranscriptJobsResponseSchema,
  ListTranscriptsResponseSchema,
  TranscriptJobSchema,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { writeJson } from "./write-response.ts";

const emptyMetadata = {
  fileType: "TYPE_UNSPECIFIED",
  languageCode: "",
  subject: "",
  description: "",
  keywords: [],
  additionalMetadata: {},
  recordingDuration: null,
  waveformUri: "",
  speakers: {},
  dataSource: "DATA_SOURCE_UNSPECIFIED",
  originalCharLength: 0,
  originalByteLength: 0,
};

test("writeJson() writes or omits unset fields according to the message's options", () => {
  const rows: [schema: DescMessage, message: Message, json: unknown][] = [
    [
      TranscriptSchema,
      create(TranscriptSchema, {
        name: "transcripts/1",
        metadata: {},
        segments: [{ words: [{ word: "a " }] }],
      }),
      {
        name: "transcripts/1",
        metadata: emptyMetadata,
        segments: [{ words: [{ word: "a " }], speakerId: "" }],
        uri: "",
      },
    ],
    [
      TranscriptSchema,
      create(TranscriptSchema, {
        metadata: { recordingDuration: { seconds: 1n, nanos: 500_000_000 } },
      }),
      {
        name: "",
        metadata: { ...emptyMetadata, recordingDuration: "1.500s" },
        segments: [],
        uri: "",
      },
    ],
    [
      ListTranscriptsResponseSchema,
      create(ListTranscriptsResponseSchema, { transcripts: [{ metadata: {} }, {}] }),
      {
        transcripts: [
          { name: "", metadata: emptyMetadata, segments: [], uri: "" },
          { name: "", segments: [], uri: "" },
        ],
        nextPageToken: "",
      },
    ],
    [
      ListTranscriptJobsResponseSchema,
      create(ListTranscriptJobsResponseSchema, {}),
      { jobs: [], nextPageToken: "" },
    ],
    [
      ListTranscriptJobsResponseSchema,
      create(ListTranscriptJobsResponseSchema, {
        jobs: [{ name: "transcriptjob/1" }],
        nextPageToken: "x",
      }),
      { jobs: [{ name: "transcriptjob/1" }], nextPageToken: "x" },
    ],
    // Inside another message, the options of that message apply to metadata.
    [
      TranscriptJobSchema,
      create(TranscriptJobSchema, {
        name: "transcriptjob/1",
        transcriptMetadata: { subject: "x" },
      }),
      { name: "transcriptjob/1", transcriptMetadata: { subject: "x" } },
    ],
    [
      CreateTranscriptResponseSchema,
      create(CreateTranscriptResponseSchema, { name: "transcripts/1" }),
      { name: "transcripts/1" },
    ],
    [RecognizeResponseSchema, create(RecognizeResponseSchema), { results: [] }],
    [
      StreamingRecognizeResponseSchema,
      create(StreamingRecognizeResponseSchema, {
        results: [{ alternatives: [{ transcript: "a" }] }],
      }),
      { results: [{ alternatives: [{ transcript: "a" }] }] },
    ],
  ];
  for (const [schema, message, json] of rows) {
    assert.deepEqual(JSON.parse(writeJson(schema, message)), json, schema.typeName);
  }
});
