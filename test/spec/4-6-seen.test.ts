// §4.6: every field of a PATCH either changes the response to the next GET, or is refused with a
// reason. Media facts follow the media.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fromJson } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  TranscriptMetadataSchema,
  Transcripts,
  TranscriptSchema,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { toneWav } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { fieldsOf, pollJob, submit } from "./jobs.ts";
import { openMediaHost } from "./media-host.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf, segmentOf, speaker } from "./transcripts.ts";

let service: TestService;
let grpc: Client<typeof Transcripts>;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
  grpc = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
});
after(() => service[Symbol.asyncDispose]());

const wav = toneWav([10, 20, 30]);
const text = Buffer.from("not a sound at all");

const get = async (name: string): Promise<Answer["json"]> =>
  (await service.call("GET", `/v1alpha1/${name}`)).json;

const patch = async (name: string, body: unknown, query = ""): Promise<Answer> =>
  await service.call("PATCH", `/v1alpha1/${name}${query}`, body);

async function create(fileType: string): Promise<string> {
  const draft = draftOf("Staðreyndir", { fileType });
  return (await service.call("POST", "/v1alpha1/transcripts", draft)).json.name;
}

async function upload(name: string, bytes: Buffer): Promise<void> {
  const begun = await service.call("POST", "/v1alpha1/initupload", { resourceName: name });
  const { status } = await fetch(begun.json.storageSignedUrl, { method: "PUT", body: bytes });
  assert.equal(status, 200);
}

/** Uploads a recording, and resolves once it is described. */
async function uploadRecording(name: string): Promise<void> {
  await upload(name, wav);
  await until(async () => (await get(name)).metadata.waveformUri !== "");
}

/**
 * Uploads a file that is not a recording. Resolves once media that was uploaded later has been
 * described, so that this file has been processed before.
 */
async function uploadText(name: string): Promise<void> {
  await upload(name, text);
  await uploadRecording(await create("AUDIO"));
}

async function factsOf(name: string): Promise<unknown[]> {
  const { metadata } = await get(name);
  const listed = await service.call("GET", "/v1alpha1/transcripts");
  const shown = listed.json.transcripts.find((each: { name: string }) => each.name === name);
  const exported = await service.call("GET", `/v1alpha1/${name}:export?format=JSON`);
  const all = [metadata, shown.metadata, exported.json.metadata].map((each) => [
    each.recordingDuration,
    each.waveformUri !== "",
    each.fileType,
  ]);
  assert.deepEqual(all[1], all[0], "the list equals GET");
  assert.deepEqual(all[2], all[0], "the file equals GET");
  return all[0] ?? [];
}

describe("media facts follow the media", () => {
  test("a job's transcript loses its media facts when the media is replaced by a file that is not a recording", async () => {
    await using host = await openMediaHost({ "/a.wav": wav });
    const metadata = { fileType: "VIDEO" };
    const submitted = await submit(service, `${host.address}/a.wav`, metadata);
    const { last } = await pollJob(service, submitted.json.name);
    const name: string = last.transcript;
    const { recordingDuration } = last.transcriptMetadata;
    assert.deepEqual(await factsOf(name), [recordingDuration, true, "AUDIO"]);
    await uploadText(name);
    assert.deepEqual(await factsOf(name), [null, false, "VIDEO"], "only the declared type is left");
    // A change does not restore facts of the old media.
    const changed = await patch(name, { metadata: { subject: "annað" } });
    assert.equal(changed.json.metadata.recordingDuration, null);
    await uploadRecording(name);
    assert.deepEqual(await factsOf(name), [recordingDuration, true, "AUDIO"]);
  });

  test("a fileType that a caller sets applies until other media arrives", async () => {
    const name = await create("AUDIO");
    await uploadRecording(name);
    const changed = await patch(name, { metadata: { fileType: "VIDEO" } });
    assert.equal(changed.json.metadata.fileType, "VIDEO");
    await patch(name, { metadata: { subject: "annað" } });
    const held = await factsOf(name);
    assert.deepEqual(held.slice(1), [true, "VIDEO"]);
    await uploadRecording(name);
    assert.deepEqual((await factsOf(name)).slice(1), [true, "AUDIO"]);
    // A fileType that is set before the new media is described applies to the new media.
    await upload(name, wav);
    await patch(name, { metadata: { fileType: "VIDEO" } });
    await until(async () => (await get(name)).metadata.waveformUri !== "");
    assert.equal((await get(name)).metadata.fileType, "VIDEO");
  });

  test("sending back the fileType that GET returned does not declare it", async () => {
    const name = await create("VIDEO");
    await uploadRecording(name);
    const seen = await get(name);
    assert.equal(seen.metadata.fileType, "AUDIO");
    assert.equal((await patch(name, seen)).status, 200);
    assert.deepEqual((await factsOf(name)).slice(1), [true, "AUDIO"]);
    await uploadText(name);
    assert.deepEqual(await factsOf(name), [null, false, "VIDEO"], "as it was declared");
  });
});

describe("updates of a transcript", () => {
  const segments = [segmentOf("alveg nýtt")];
  const changes: [field: string, value: unknown][] = [
    ["fileType", "VIDEO"],
    ["languageCode", "en-US"],
    ["subject", "annað"],
    ["description", "önnur"],
    ["keywords", ["b", "c"]],
    ["additionalMetadata", { salur: "3" }],
    ["speakers", { c: speaker("Dóra") }],
    ["dictation", false],
  ];
  /** The output-only fields, with values that no transcript has. */
  const outputOnly: [field: string, value: unknown][] = [
    ["originalFilename", "elsewhere.mp3"],
    ["originalUri", "http://elsewhere.example/"],
    ["recordingDuration", "9s"],
    ["waveformUri", "http://elsewhere.example/"],
    ["dataSource", "URI"],
    ["originalCharLength", 9],
    ["originalByteLength", 9],
  ];
  const outputOnlyAbove: [field: string, value: unknown][] = [
    ["name", "transcripts/0190a0a0-0000-7000-8000-000000000000"],
    ["uri", "http://elsewhere.example/"],
    ["version", { name: "x", parent: "y", creationTime: "2001-01-01T00:00:00Z" }],
  ];
  let name: string;
  before(async () => {
    name = await create("AUDIO");
    await uploadRecording(name);
  });

  test("the table of this test has every field of Transcript and of its metadata", () => {
    const tabled = [...changes, ...outputOnly].map(([field]) => field);
    const fields = TranscriptMetadataSchema.fields.map(({ jsonName }) => jsonName);
    assert.deepEqual(tabled.toSorted(), fields.toSorted());
    const above = [...outputOnlyAbove.map(([field]) => field), "metadata", "segments"];
    assert.deepEqual(above.toSorted(), TranscriptSchema.fields.map((each) => each.name).toSorted());
  });

  /**
   * Sends a PATCH over REST with and without a mask, and over gRPC with a mask. Returns the status
   * of each, and the fields that its error names.
   */
  async function patched(path: string, transcript: Answer["json"]): Promise<unknown[]> {
    const headers = { authorization: `Bearer ${service.key}` };
    const message = fromJson(TranscriptSchema, { ...transcript, name });
    const request = { transcript: message, updateMask: { paths: [path] } };
    const overGrpc = await grpc.updateTranscript(request, { headers }).then(
      () => 200,
      (error: unknown) => (ConnectError.from(error).code === Code.InvalidArgument ? 400 : error),
    );
    const masked = await patch(name, transcript, `?updateMask=${path}`);
    return [(await patch(name, transcript)).status, masked.status, overGrpc];
  }

  test("a PATCH of a field that callers set is visible in GET while media exists", async () => {
    const rows: [
      path: string,
      transcript: Answer["json"],
      read: (json: Answer["json"]) => unknown,
    ][] = changes.map(([field, value]) => [
      `metadata.${field}`,
      { metadata: { [field]: value } },
      (json) => json.metadata[field],
    ]);
    rows.push(["segments", { segments }, (json) => json.segments]);
    for (const [path, transcript, read] of rows) {
      const before = read(await get(name));
      assert.deepEqual(await patched(path, transcript), [200, 200, 200], path);
      const seen = read(await get(name));
      assert.notDeepEqual(seen, before, path);
    }
  });

  test("a PATCH of an output-only field is refused with a reason and creates no version", async () => {
    const before = await get(name);
    const rows: [path: string, transcript: Answer["json"], named: string[]][] = [
      ...outputOnly.map(([field, value]): [string, Answer["json"], string[]] => [
        `metadata.${field}`,
        { metadata: { [field]: value } },
        [`metadata.${field}`],
      ]),
      ...outputOnlyAbove.map(([field, value]): [string, Answer["json"], string[]] => [
        field,
        { [field]: value },
        ["metadata", "segments"],
      ]),
    ];
    for (const [path, transcript, named] of rows) {
      assert.deepEqual(await patched(path, transcript), [400, 400, 400], path);
      assert.deepEqual(fieldsOf(await patch(name, transcript)), named);
      const masked = await patch(name, transcript, `?updateMask=metadata.subject,${path}`);
      assert.equal(masked.status, 400, path);
      const inProto = path.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      const words = `updateMask: "${inProto}" is set by the service and cannot be updated`;
      assert.equal(masked.json.message, words);
    }
    assert.deepEqual((await get(name)).version, before.version);
  });

  test("a PATCH with empty metadata is refused and creates no version", async () => {
    const before = await get(name);
    assert.deepEqual(await patched("metadata", { metadata: {} }), [400, 400, 400]);
    assert.deepEqual(fieldsOf(await patch(name, { metadata: {} })), ["metadata"]);
    assert.deepEqual((await get(name)).version, before.version);
  });

  test("a PATCH with a transcript that was read and then edited applies the edit", async () => {
    const seen = await get(name);
    const whole = { ...seen, metadata: { ...seen.metadata, subject: "breytt" } };
    const answer = await patch(name, whole);
    assert.equal(answer.status, 200, answer.json.message);
    assert.equal((await get(name)).metadata.subject, "breytt");
    const headers = { authorization: `Bearer ${service.key}` };
    await grpc.updateTranscript({ transcript: fromJson(TranscriptSchema, whole) }, { headers });
  });
});
