// §4.4: retrieve a transcript.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { textOf } from "./jobs.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

let service: TestService;
let name: string;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Kveðja"));
  name = json.name;
});
after(() => service[Symbol.asyncDispose]());

test("a transcript is returned with its segments, metadata and version, and with the default values of unset fields", async () => {
  const { status, json } = await service.call("GET", `/v1alpha1/${name}`);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json).toSorted(), [
    "metadata",
    "name",
    "segments",
    "uri",
    "version",
  ]);
  assert.equal(json.name, name);
  assert.equal(json.uri, "");
  assert.equal(textOf(json), "góðan dag og velkomin");
  assert.deepEqual(json.segments[1], {
    startTime: "2s",
    endTime: "3s",
    words: [
      { startTime: "2s", endTime: "2.500s", word: "og " },
      { startTime: "2.500s", endTime: "3s", word: "velkomin" },
    ],
    speakerId: "",
  });
  assert.deepEqual(json.metadata, {
    fileType: "AUDIO",
    languageCode: "is-IS",
    subject: "Kveðja",
    description: "",
    keywords: ["prufa"],
    additionalMetadata: {},
    recordingDuration: null,
    waveformUri: "",
    speakers: {},
    dictation: true,
    dataSource: json.metadata.dataSource,
    originalCharLength: 0,
    originalByteLength: 0,
  });
  assert.deepEqual(Object.keys(json.version), [
    "name",
    "parent",
    "creationTime",
    "kind",
    "author",
    "authorName",
    "note",
  ]);
});

test("missing names, malformed names and names of other accounts get the same response", async () => {
  const absent = "0190a0a0-0000-7000-8000-000000000000";
  const bodies = new Set<string>();
  for (const id of [absent, "x", "%00", "%2e%2e", name.toUpperCase().slice(12)]) {
    const { status, json } = await service.call("GET", `/v1alpha1/transcripts/${id}`);
    assert.equal(status, 404, id);
    bodies.add(JSON.stringify(json).replaceAll(decodeURIComponent(id), "ID"));
  }
  assert.equal((await service.call("GET", "/v1alpha1/transcripts/%ff")).status, 400);
  assert.equal(
    (await service.call("GET", `/v1alpha1/${name}`, undefined, { authorization: "Bearer x" }))
      .status,
    401,
  );
});

test("gRPC returns the same transcript", async () => {
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  const transcript = await client.getTranscript({ name }, { headers });
  assert.equal(transcript.metadata?.subject, "Kveðja");
  assert.equal(transcript.segments[1]?.words[1]?.startTime?.nanos, 500_000_000);
  assert.equal(transcript.metadata?.recordingDuration, undefined);
  const absent = "transcripts/0190a0a0-0000-7000-8000-000000000000";
  await assert.rejects(client.getTranscript({ name: absent }, { headers }), { code: 5 });
});
