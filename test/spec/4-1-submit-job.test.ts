// §4.1: submit a transcript job.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fieldsOf, pollJob, submit, textOf } from "./jobs.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { speak } from "../fixtures/flite.ts";
import { callRest, openTestService, pcmOf, type TestService } from "./service.ts";

const path = "/v1alpha1/transcriptjob:submit";
const sentence = "the harbor is quiet in the early morning";
let service: TestService;
let host: MediaHost;

before(async () => {
  const wav = speak(sentence);
  host = await openMediaHost({ "/talk.wav": wav, "/cut.wav": pcmOf(wav).subarray(0, 100) });
  service = await openTestService();
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

test("the response to submit has the name, the start and the metadata, and no other field", async () => {
  const metadata = {
    subject: "Harbour",
    description: "A morning",
    keywords: ["sea", "quiet"],
    additionalMetadata: { camera: "2" },
  };
  const { status, json } = await submit(service, `${host.address}/talk.wav`, metadata);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json).toSorted(), ["name", "startTime", "transcriptMetadata"]);
  assert.match(json.name, /^transcriptjob\/[0-9a-f-]{36}$/);
  assert.match(json.startTime, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(json.transcriptMetadata, {
    ...metadata,
    fileType: "AUDIO",
    languageCode: "en-US",
    originalUri: `${host.address}/talk.wav`,
  });
  await pollJob(service, json.name);
});

test("an upload is accepted instead of a URL (extension)", async () => {
  const { json: upload } = await service.call("POST", "/v1alpha1/initupload", {});
  assert.match(upload.resourceName, /^uploads\//);
  const job = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: false,
    uri: upload.resourceName,
  };
  assert.equal(
    (await service.call("POST", path, job)).status,
    400,
    "the media is not uploaded yet",
  );
  const put = await fetch(upload.storageSignedUrl, { method: "PUT", body: speak(sentence) });
  assert.equal(put.status, 200);
  const { status, json } = await service.call("POST", path, job);
  assert.equal(status, 200);
  const { last } = await pollJob(service, json.name);
  assert.equal(last.state, "SUCCESS");
  const { json: transcript } = await service.call("GET", `/v1alpha1/${last.transcript}`);
  assert.equal(textOf(transcript), sentence);
  assert.equal(transcript.metadata.dataSource, "UPLOAD");
});

test("invalid requests are refused with every violation, and nothing is stored", async () => {
  const good = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: `${host.address}/talk.wav`,
  };
  const before = (await service.call("GET", "/v1alpha1/transcriptjob")).json.jobs.length;
  const rows: [body: unknown, fields: string[]][] = [
    [{}, ["metadata.fileType", "metadata.languageCode", "uri", "useUri"]],
    [{ ...good, uri: "" }, ["uri"]],
    [{ ...good, uri: "ftp://a.example/b" }, ["uri"]],
    [{ ...good, uri: "http://user:secret@a.example/b" }, ["uri"]],
    [{ ...good, uri: "http://10.0.0.1/b" }, ["uri"]],
    [{ ...good, uri: "http://[::1]/b" }, ["uri"]],
    [{ ...good, uri: "file:///etc/passwd" }, ["uri"]],
    [{ ...good, uri: "not a url" }, ["uri"]],
    [
      { ...good, metadata: { fileType: "AUDIO", languageCode: "xx-XX" } },
      ["metadata.languageCode"],
    ],
    [{ ...good, metadata: { fileType: "TEXT", languageCode: "en-US" } }, ["metadata.fileType"]],
    [{ ...good, metadata: { languageCode: "en-US" } }, ["metadata.fileType"]],
    [{ ...good, useUri: false, uri: "uploads/none" }, ["uri"]],
    ...["true", 1, null, [], {}].map((useUri): [unknown, string[]] => [
      { ...good, useUri },
      ["useUri"],
    ]),
    [
      { ...good, unknownField: 1, metadata: { ...good.metadata, color: "red" } },
      ["metadata.color", "unknownField"],
    ],
    [{ ...good, metadata: { ...good.metadata, keywords: "sea" } }, ["metadata.keywords"]],
  ];
  for (const [body, fields] of rows) {
    const answer = await service.call("POST", path, body);
    const row = JSON.stringify(body);
    assert.equal(answer.status, 400, row);
    assert.deepEqual(fieldsOf(answer), fields, row);
  }
  const faroese = { ...good, metadata: { ...good.metadata, languageCode: "fo-FO" } };
  assert.match((await service.call("POST", path, faroese)).json.message, /fo-FO.*en-US, is-IS/);
  assert.equal(
    (await callRest(service.address, undefined, { method: "POST", path, body: good })).status,
    401,
  );
  assert.equal((await service.call("POST", path, "x".repeat((1 << 20) + 1))).status, 413);
  const now = (await service.call("GET", "/v1alpha1/transcriptjob")).json.jobs.length;
  assert.equal(now, before);
});

test("repeated submits with the same Idempotency-Key create one job", async () => {
  const body = {
    metadata: { languageCode: "en-US", fileType: "AUDIO" },
    useUri: true,
    uri: `${host.address}/talk.wav`,
  };
  const headers = { "idempotency-key": "morning-1" };
  const answers = await Promise.all([1, 2, 3].map(() => service.call("POST", path, body, headers)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(new Set(answers.map(({ json }) => json.name)).size, 1);
  const other = { ...body, uri: `${host.address}/cut.wav` };
  assert.equal((await service.call("POST", path, other, headers)).status, 409);
  await pollJob(service, answers[0]?.json.name);
});
