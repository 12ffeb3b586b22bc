// §4.5: create a transcript.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fieldsOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf, segmentOf } from "./transcripts.ts";

const path = "/v1alpha1/transcripts";
let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(() => service[Symbol.asyncDispose]());

test("the response contains exactly the name", async () => {
  const { status, json } = await service.call("POST", path, draftOf("Fyrsta"));
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ["name"]);
  assert.match(json.name, /^transcripts\/[0-9a-f-]{36}$/);
  assert.equal(
    (await service.call("GET", `/v1alpha1/${json.name}`)).json.metadata.subject,
    "Fyrsta",
  );
});

test("output-only fields are ignored", async () => {
  const draft = {
    ...draftOf("Önnur", {
      originalUri: "http://a/b",
      recordingDuration: "9s",
      originalCharLength: 7,
      waveformUri: "x",
    }),
    name: "transcripts/mine",
    uri: "http://a/b",
    version: { name: "v", parent: "p" },
  };
  const { status, json } = await service.call("POST", path, draft);
  assert.equal(status, 200);
  assert.notEqual(json.name, "transcripts/mine");
  const { json: made } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.equal(made.uri, "");
  assert.equal(made.version.parent, "");
  assert.equal(made.metadata.originalUri, undefined);
  assert.equal(made.metadata.recordingDuration, null);
  assert.equal(made.metadata.originalCharLength, 0);
  assert.equal(made.metadata.waveformUri, "");
});

test("invalid transcripts are refused with every violation, and nothing is stored", async () => {
  const { metadata, segments } = draftOf("Slæm");
  const [first] = segments;
  const word = { startTime: "0s", endTime: "0.5s", word: "já" };
  const withWords = (...words: object[]) => ({
    metadata,
    segments: [{ startTime: "0s", endTime: "1s", words }],
  });
  const rows: [body: unknown, fields: string[]][] = [
    [{}, ["metadata.fileType", "metadata.languageCode"]],
    [{ metadata: {} }, ["metadata.fileType", "metadata.languageCode"]],
    [{ metadata: { ...metadata, fileType: "SMELL" } }, ["metadata.fileType"]],
    [{ metadata: { ...metadata, languageCode: "not a language" } }, ["metadata.languageCode"]],
    [{ metadata: { ...metadata, subject: "x".repeat(1_000_001) } }, ["metadata.subject"]],
    [{ metadata: { ...metadata, subject: "a\0b" } }, ["metadata.subject"]],
    [
      { metadata: { ...metadata, additionalMetadata: { a: 1 } } },
      ['metadata.additionalMetadata["a"]'],
    ],
    [withWords({ ...word, startTime: "0.6s" }), ["segments[0].words[0].endTime"]],
    [withWords({ ...word, endTime: "1.5s" }), ["segments[0].words[0].endTime"]],
    [withWords({ ...word, startTime: "-1s" }), ["segments[0].words[0].startTime"]],
    [withWords({ ...word, startTime: "soon" }), ["segments[0].words[0].startTime"]],
    [withWords({ ...word, color: "red" }), ["segments[0].words[0].color"]],
    [{ metadata, segments: [segmentOf("b", 5), first] }, ["segments[1].startTime"]],
    [{ metadata, segments: "none" }, ["segments"]],
    [{ metadata, text: "x" }, ["text"]],
  ];
  for (const [body, fields] of rows) {
    const answer = await service.call("POST", path, body);
    const row = JSON.stringify(body).slice(0, 200);
    assert.equal(answer.status, 400, row);
    for (const field of fields) {
      const named = fieldsOf(answer);
      assert.ok(
        named.some((each) => each === field || each.startsWith(`${field}[`)),
        `${row}: ${named.join()}`,
      );
    }
  }
  const { json } = await service.call("GET", path);
  assert.equal(
    json.transcripts.filter(
      ({ metadata }: { metadata: { subject: string } }) => metadata.subject === "Slæm",
    ).length,
    0,
  );
});

test("malformed and oversized bodies are refused", async () => {
  const rows: [body: string, status: number][] = [
    ["{", 400],
    ["", 400],
    ["[]", 400],
    [`{"metadata":${"{".repeat(1000)}`, 400],
    ["x".repeat(33 << 20), 413],
  ];
  for (const [body, status] of rows) {
    assert.equal((await service.call("POST", path, body)).status, status, body.slice(0, 20));
  }
});

test("the text of a transcript is returned unchanged", async () => {
  const texts = [
    "Ævar",
    "þið, ",
    "\u{1F442} ",
    "e\u0301 ",
    "<script> ",
    "'; drop table ",
    "\u200F ",
  ];
  const segments = [segmentOf("x ".repeat(texts.length).trimEnd())].map((segment) => ({
    ...segment,
    words: segment.words.map((word, at) => ({ ...word, word: texts[at] })),
  }));
  const { json } = await service.call("POST", path, { ...draftOf("Stafir"), segments });
  const { json: made } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.deepEqual(
    made.segments[0].words.map(({ word }: { word: string }) => word),
    texts,
  );
});
