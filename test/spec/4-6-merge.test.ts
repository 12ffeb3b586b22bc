// §4.6: what an update replaces and what it keeps, as docs/api.md, Transcripts, describes it.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  Transcripts,
  type UpdateTranscriptRequestSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fieldsOf } from "./jobs.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

const full = {
  description: "lýsing",
  additionalMetadata: { salur: "2", fundur: "7" },
  speakers: { a: speaker("Anna"), b: speaker("Björn") },
};
let service: TestService;
let grpc: Client<typeof Transcripts>;
let name: string;
let made: Answer["json"];
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
});
after(() => service[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ name } = (await service.call("POST", "/v1alpha1/transcripts", draftOf("Upphaf", full))).json);
  made = (await service.call("GET", `/v1alpha1/${name}`)).json;
});

const patch = (body: unknown, query = "") =>
  service.call("PATCH", `/v1alpha1/${name}${query}`, body);

/**
 * Asserts that the response to an update has these changes and segments, and equals the response to
 * a later GET.
 */
/** `changed`: undefined for a field that is absent now. */
async function assertMade(answer: Answer, changed: object, segments = made.segments) {
  assert.equal(answer.status, 200, answer.json.message);
  const metadata = Object.entries({ ...made.metadata, ...changed });
  const set = metadata.filter(([, value]) => value !== undefined);
  assert.deepEqual(answer.json.metadata, Object.fromEntries(set));
  assert.deepEqual(answer.json.segments, segments);
  assert.deepEqual((await service.call("GET", `/v1alpha1/${name}`)).json, answer.json);
}

async function versionCount(): Promise<number> {
  return (await service.call("GET", `/v1alpha1/${name}/versions`)).json.versions.length;
}

test("a single field is replaced, with either spelling of its name, and all others remain", async () => {
  const rows: [field: string, snake: string, value: unknown][] = [
    ["fileType", "file_type", "VIDEO"],
    ["languageCode", "language_code", "en-US"],
    ["subject", "subject", "annað"],
    ["description", "description", "önnur"],
    ["keywords", "keywords", ["b", "c"]],
    ["additionalMetadata", "additional_metadata", { salur: "3" }],
    ["speakers", "speakers", { c: speaker("Dóra") }],
    ["dictation", "dictation", false],
  ];
  for (const [field, snake, value] of rows) {
    for (const name of new Set([field, snake])) {
      await assertMade(await patch({ metadata: { [name]: value } }), { [field]: value });
      await patch({ metadata: { [field]: made.metadata[field] } });
    }
  }
  await assertMade(await patch({ metadata: { dictation: true } }), {});
});

test("lists and maps are replaced as a whole, even by an empty one", async () => {
  await assertMade(await patch({ metadata: { keywords: ["ný"] } }), { keywords: ["ný"] });
  await assertMade(await patch({ metadata: { keywords: [] } }), { keywords: [] });
  const speakers = { a: {} };
  const additionalMetadata = { annað: "" };
  const both = await patch({ metadata: { speakers, additionalMetadata, keywords: ["prufa"] } });
  await assertMade(both, { speakers: { a: speaker("") }, additionalMetadata });
  const empty = { speakers: {}, additionalMetadata: {}, subject: "", description: "" };
  await assertMade(await patch({ metadata: empty }), empty);
});

test("segments are replaced as a whole, [] removes them all, and metadata remains", async () => {
  const segments = [{ ...segmentOf("alveg nýtt"), speakerId: "b" }];
  const { json } = await patch({ segments });
  assert.deepEqual(json.segments.length, 1);
  assert.equal(json.segments[0].speakerId, "b");
  assert.deepEqual(json.metadata, made.metadata);
  await assertMade(await patch({ segments: [] }), {}, []);
  await assertMade(await patch({ segments: [], metadata: { subject: "x" } }), { subject: "x" }, []);
});

test("a null field counts as absent", async () => {
  const unset = { subject: null, keywords: null, speakers: null, dictation: null };
  const nothing = await patch({ metadata: unset, segments: null });
  assert.equal(nothing.status, 400);
  assert.match(nothing.json.message, /metadata: sets no field/);
  const description = "ein";
  await assertMade(await patch({ metadata: { subject: null, description } }), { description });
  for (const body of [{ segments: null }, { metadata: null }, { metadata: null, segments: null }]) {
    assert.equal((await patch(body)).status, 400, JSON.stringify(body));
  }
});

test("an update with neither metadata nor segments gets 400 and creates no version", async () => {
  const rows = [{}, { name: "transcripts/x" }, { uri: "x" }, { version: { name: "x" } }, null, ""];
  for (const body of rows) {
    const answer = await patch(body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(answer.json.message, /metadata or segments is required|body/);
  }
  assert.deepEqual(fieldsOf(await patch({})), ["metadata", "segments"]);
  assert.equal(await versionCount(), 1);
  assert.deepEqual(fieldsOf(await patch({ metadata: {} })), ["metadata"]);
  assert.equal(await versionCount(), 1);
});

test("output-only fields in a change are ignored, whatever their values", async () => {
  const outputOnly = {
    name: "transcripts/0190a0a0-0000-7000-8000-000000000000",
    uri: "http://elsewhere.example/",
    version: { name: "x", parent: "y", creationTime: "2001-01-01T00:00:00Z" },
  };
  const metadata = {
    originalUri: "http://elsewhere.example/",
    recordingDuration: "9s",
    waveformUri: "http://elsewhere.example/",
    dataSource: "URI",
    originalCharLength: 9,
    originalByteLength: 9,
  };
  const alone = await patch({ ...outputOnly, metadata });
  assert.equal(alone.status, 400, "none of its fields can be updated");
  assert.deepEqual(
    fieldsOf(alone),
    Object.keys(metadata)
      .map((field) => `metadata.${field}`)
      .toSorted(),
  );
  const subject = "með";
  const answer = await patch({ ...outputOnly, metadata: { ...metadata, subject } });
  await assertMade(answer, { subject });
  assert.equal(answer.json.name, name);
  assert.equal(answer.json.uri, "");
  // The transcript is sent back as it was fetched.
  await assertMade(await patch(answer.json), { subject });
  await assertMade(await patch(made), {});
});

test("updateMask selects the fields: others are ignored, and selected fields that are absent are cleared", async () => {
  const segments = [segmentOf("alveg nýtt")];
  const body = { metadata: { subject: "B", description: "C", keywords: ["d"] }, segments };
  const cleared = { subject: "", additionalMetadata: {}, speakers: {} };
  const rows: [mask: string, body: unknown, changed: object, segments?: unknown[]][] = [
    ["metadata.subject", body, { subject: "B" }],
    ["metadata.subject,metadata.keywords", body, { subject: "B", keywords: ["d"] }],
    ["metadata", body, body.metadata],
    ["metadata.subject", {}, { subject: "" }],
    ["metadata.subject", { metadata: { description: "C" } }, { subject: "" }],
    ["metadata.additionalMetadata,metadata.speakers,metadata.subject", { metadata: {} }, cleared],
    ["metadata.additional_metadata,metadata.speakers,metadata.subject", { metadata: {} }, cleared],
    ["segments", { metadata: { subject: "B" } }, {}, []],
    ["segments,metadata.dictation", { segments: [] }, { dictation: undefined }, []],
    ["metadata.subject,metadata.subject", body, { subject: "B" }],
  ];
  for (const [mask, sent, changed, left] of rows) {
    for (const parameter of ["updateMask", "update_mask"]) {
      await assertMade(await patch(sent, `?${parameter}=${mask}`), changed, left ?? made.segments);
      await patch({ metadata: made.metadata, segments: made.segments });
    }
  }
});

test("a mask with an unknown path, or a mask that clears a required field, gets 400 and creates no version", async () => {
  const rows: [mask: string, message: RegExp][] = [
    ["metadata.color", /updateMask: "metadata\.color" is not a field that can be updated/],
    ["metadata.subject,segment", /updateMask: "segment" is not/],
    ["subject", /updateMask: "subject" is not/],
    ["metadata.additionalMetadata.salur", /"metadata\.additional_metadata\.salur" is not/],
    ["metadata.speakers.a", /"metadata\.speakers\.a" is not/],
    ["metadata.keywords.0", /"metadata\.keywords\.0" is not/],
    ["segments.words", /"segments\.words" is not/],
    ["*", /"\*" is not/],
    ["metadata.", /"metadata\." is not/],
    ["metadata.__proto__", /updateMask/],
    ["metadata.constructor", /"metadata\.constructor" is not/],
    ["name", /updateMask: "name" is set by the service and cannot be updated/],
    ["metadata.subject,metadata.original_uri", /"metadata\.original_uri" is set by the service/],
    ["metadata.languageCode", /metadata\.languageCode: is required/],
    ["metadata.file_type", /metadata\.fileType: AUDIO or VIDEO is required/],
  ];
  for (const [mask, message] of rows) {
    const { status, json } = await patch({ metadata: { subject: "B" } }, `?updateMask=${mask}`);
    assert.equal(status, 400, mask);
    assert.match(json.message, message, mask);
  }
  assert.equal(await versionCount(), 1);
});

test("over gRPC, an update changes the fields of the mask, or without a mask the fields that are set", async () => {
  const headers = { authorization: `Bearer ${service.key}` };
  const update = (request: MessageInitShape<typeof UpdateTranscriptRequestSchema>) =>
    grpc.updateTranscript(request, { headers });
  const metadata = { subject: "B", description: "C" };
  const rows: [transcript: object, paths: string[] | undefined, changed: object, left?: []][] = [
    [{ metadata }, undefined, metadata],
    [{ metadata }, [], metadata],
    [{ metadata }, ["metadata.subject"], { subject: "B" }],
    [{ metadata: {} }, ["metadata.additional_metadata"], { additionalMetadata: {} }],
    [{}, ["metadata.subject", "segments"], { subject: "" }, []],
    // In binary, an empty list cannot be distinguished from a missing one.
    [{ metadata: { subject: "B", keywords: [] }, segments: [] }, undefined, { subject: "B" }],
  ];
  for (const [transcript, paths, changed, left] of rows) {
    const updated = await update({
      transcript: { name, ...transcript },
      ...(paths && { updateMask: { paths } }),
    });
    const answer = await service.call("GET", `/v1alpha1/${name}`);
    assert.equal(updated.version?.name, answer.json.version.name);
    await assertMade(answer, changed, left ?? made.segments);
    await patch({ metadata: made.metadata, segments: made.segments });
  }
  const refused: [transcript: object, paths: string[]][] = [
    [{}, []],
    [{ metadata }, ["metadata.color"]],
    [{ metadata }, ["metadata.language_code"]],
  ];
  for (const [transcript, paths] of refused) {
    const call = update({ transcript: { name, ...transcript }, updateMask: { paths } });
    await assert.rejects(call, { code: Code.InvalidArgument });
  }
});
