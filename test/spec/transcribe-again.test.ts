// A job that transcribes the media of a transcript again makes a new version of it (extension).
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openDatabase } from "../../src/database/database.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { AlignmentCalls, slow, speech, unaligned } from "./alignment.ts";
import { fieldsOf, textOf } from "./jobs.ts";
import { openTestService, type Answer, type TestService } from "./service.ts";
import { segmentOf } from "./transcripts.ts";

let service: TestService;
let calls: AlignmentCalls;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_LOG: "silent" });
  calls = new AlignmentCalls(service);
});
after(() => service[Symbol.asyncDispose]());

async function again(
  transcript: string,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = { transcript, metadata: { languageCode: "en-US" }, ...more };
  return await service.call("POST", "/v1alpha1/transcriptjob:submit", request, headers);
}

async function begin(transcript: string): Promise<string> {
  const { status, json } = await again(transcript);
  assert.equal(status, 200, JSON.stringify(json));
  return json.name;
}

async function versionsOf(name: string): Promise<Answer["json"][]> {
  return (await calls.get(`${name}/versions`)).versions;
}

test("the job makes a version in another language, and the transcript keeps the rest", async () => {
  const name = await calls.create(speech);
  const first = await calls.get(name);
  const { json: submitted } = await again(name);
  assert.deepEqual([submitted.newVersionOf, "transcript" in submitted], [name, false]);
  const { languageCode, subject } = submitted.transcriptMetadata;
  assert.deepEqual([languageCode, subject], ["en-US", unaligned.metadata.subject]);
  const job = await calls.ended(submitted.name);
  assert.equal(job.error, undefined, JSON.stringify(job.error));
  assert.deepEqual([job.state, job.transcript, job.newVersionOf], ["SUCCESS", name, name]);
  const { jobs } = await calls.get("transcriptjob");
  assert.deepEqual(jobs[0], job);

  const second = await calls.get(name);
  assert.equal(second.version.parent, first.version.name);
  assert.deepEqual([second.version.kind, second.version.author], ["RECOGNIZED", ""]);
  assert.match(textOf(second), /^word1 word2/);
  assert.equal(second.metadata.languageCode, "en-US");
  for (const field of ["subject", "fileType", "dataSource", "speakers", "originalCharLength"]) {
    assert.deepEqual(second.metadata[field], first.metadata[field], field);
  }
  assert.equal(new URL(second.uri).pathname, new URL(first.uri).pathname);
  assert.equal(textOf(await calls.get(`${name}/versions/${first.version.name}`)), textOf(first));
});

test("the model of the request recognizes the media, and a job states its model", async () => {
  const name = await calls.create(speech);
  const { json: usual } = await again(name);
  assert.equal("model" in usual, false);
  assert.equal((await calls.ended(usual.name)).model, "scripted");
  const { json: chosen } = await again(name, {
    model: "scripted",
    diarizationConfig: { enableSpeakerDiarization: false },
  });
  assert.equal(chosen.model, "scripted");
  assert.equal((await calls.ended(chosen.name)).state, "SUCCESS");
});

test("a text that is edited while the job runs stays in the history", async () => {
  const name = await calls.create(slow);
  const job = await begin(name);
  const change = { segments: [segmentOf("ritað á meðan")] };
  assert.equal((await service.call("PATCH", `/v1alpha1/${name}`, change)).status, 200);
  assert.equal((await calls.ended(job)).state, "SUCCESS");
  const [made, edited] = await versionsOf(name);
  assert.deepEqual([made.kind, edited.kind], ["RECOGNIZED", "EDITED"]);
  assert.equal(made.parent, edited.name);
  assert.equal(textOf(await calls.get(`${name}/versions/${edited.name}`)), "ritað á meðan");
});

test("a repeated request with the same key makes one version", async () => {
  const name = await calls.create(speech);
  const key = { "idempotency-key": newId() };
  const [one, two] = await Promise.all([again(name, {}, key), again(name, {}, key)]);
  assert.equal(one.json.name, two.json.name);
  assert.equal((await calls.ended(one.json.name)).state, "SUCCESS");
  assert.equal((await versionsOf(name)).length, 2);
});

test("a transcript that is deleted while the job runs has no version, and its media is gone", async () => {
  const name = await calls.create(slow);
  const { uri } = await calls.get(name);
  const job = await begin(name);
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  const { state, error } = await calls.ended(job);
  assert.equal(state, "ERROR");
  assert.deepEqual([error.code, error.message], [5, `there is no transcript "${name}"`]);
  assert.equal((await service.call("GET", `/v1alpha1/${name}`)).status, 404);
  const media = await fetch(uri);
  await media.body?.cancel();
  assert.equal(media.status, 404);
});

test("a transcript that gets other media while the job runs keeps its text", async () => {
  const name = await calls.create(slow);
  const job = await begin(name);
  await calls.upload(name, speech);
  const { state, error } = await calls.ended(job);
  assert.equal(state, "ERROR");
  assert.equal(error.details[0].reason, "TRANSCRIPT_MEDIA_CHANGED");
  assert.ok((await versionsOf(name)).every(({ kind }) => kind !== "RECOGNIZED"));
});

test("a cancelled job makes no version, and the transcript keeps its media", async () => {
  const name = await calls.create(slow);
  const job = await begin(name);
  assert.equal((await service.call("POST", `/v1alpha1/${job}:cancel`, {})).status, 200);
  const { uri } = await calls.get(name);
  const media = await fetch(uri, { headers: { range: "bytes=0-9" } });
  await media.body?.cancel();
  assert.equal(media.status, 206);
  assert.ok((await versionsOf(name)).every(({ kind }) => kind !== "RECOGNIZED"));
});

test("a job that failed is submitted again with all options of its request", async () => {
  const name = await calls.create(slow);
  const writing = { enableFormatting: true, profanityFilter: true };
  const options = {
    ...writing,
    ignoreVocabulary: true,
    model: "scripted",
    diarizationConfig: { enableSpeakerDiarization: false },
  };
  const first = (await again(name, options)).json.name;
  const retry = async (job: string, headers: Record<string, string> = {}) =>
    await service.call("POST", `/v1alpha1/${job}:retry`, {}, headers);
  const early = await retry(first);
  assert.deepEqual([early.status, early.json.details[0].reason], [400, "JOB_NOT_FAILED"]);
  assert.equal((await service.call("POST", `/v1alpha1/${first}:cancel`, {})).status, 200);
  const key = { "idempotency-key": newId() };
  const [one, two] = [await retry(first, key), await retry(first, key)];
  assert.equal(one.status, 200, JSON.stringify(one.json));
  assert.equal(two.json.name, one.json.name);
  assert.notEqual(one.json.name, first);
  assert.deepEqual([one.json.newVersionOf, one.json.model], [name, "scripted"]);
  const used = await retry(`transcriptjob/${newId()}`, key);
  assert.deepEqual([used.status, used.json.details[0].reason], [404, "JOB_NOT_FOUND"]);
  const rows = await rowsOf([first, one.json.name]);
  assert.deepEqual(rows[1], rows[0]);
  assert.deepEqual(rows[0], {
    hints: null,
    ignores_vocabulary: true,
    media_uri: null,
    model: "scripted",
    new_version_of: name.slice("transcripts/".length),
    speakers_max: 0,
    writing: { formats: true, punctuation: false, masksProfanity: true },
  });
  assert.equal((await service.call("POST", `/v1alpha1/${one.json.name}:cancel`, {})).status, 200);
  // What the request needs is gone.
  assert.equal((await service.call("DELETE", `/v1alpha1/${name}`)).status, 200);
  assert.deepEqual(fieldsOf(await retry(first)), ["transcript"]);
});

test("a job whose recording was deleted, or has never arrived, cannot be submitted again", async () => {
  const submit = async (uri: string) => {
    const request = { metadata: { languageCode: "en-US", fileType: "AUDIO" }, useUri: false, uri };
    const { status, json } = await service.call("POST", "/v1alpha1/transcriptjob:submit", request);
    assert.equal(status, 200, JSON.stringify(json));
    const job: string = json.name;
    assert.equal((await service.call("POST", `/v1alpha1/${job}:cancel`, {})).status, 200);
    return job;
  };
  const retry = async (job: string, key: string) =>
    await service.call("POST", `/v1alpha1/${job}:retry`, {}, { "idempotency-key": key });
  const { json: upload } = await service.call("POST", "/v1alpha1/initupload", {});
  const put = await fetch(upload.storageSignedUrl, { method: "PUT", body: slow });
  assert.equal(put.status, 200);
  const uploaded = await submit(upload.resourceName);
  const key = newId();
  const other = await retry(uploaded, key);
  assert.equal(other.status, 200, JSON.stringify(other.json));
  assert.equal((await service.call("POST", `/v1alpha1/${other.json.name}:cancel`, {})).status, 200);
  await deleteUpload(upload.resourceName.slice("uploads/".length));
  // The content of a job that is sent later is deleted when it is cancelled.
  for (const job of [uploaded, await submit("")]) {
    const refused = await retry(job, newId());
    assert.equal(refused.status, 400, JSON.stringify(refused.json));
    const bad = refused.json.details.find((detail: object) => "fieldViolations" in detail);
    assert.deepEqual(bad.fieldViolations, [
      {
        field: "uri",
        description:
          "is empty: the recording of the job was deleted, or has never arrived. Upload it, and submit a new job",
      },
    ]);
  }
  // A call that is repeated has the same answer as before.
  assert.equal((await retry(uploaded, key)).json.name, other.json.name);
});

async function deleteUpload(id: string): Promise<void> {
  const folder = join(service.dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  await database.db.deleteFrom("upload").where("id", "=", id).execute();
}

/** Returns what jobs were submitted with, in this order. */
async function rowsOf(names: readonly string[]) {
  const folder = join(service.dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  const found = [];
  for (const name of names) {
    const row = database.db
      .selectFrom("transcript_job")
      .where("id", "=", name.slice("transcriptjob/".length))
      .select(["hints", "ignores_vocabulary", "media_uri", "model", "new_version_of"])
      .select(["speakers_max", "writing"]);
    found.push(await row.executeTakeFirstOrThrow());
  }
  return found;
}

test("requests that name no transcript of the account, or more than it, are refused", async () => {
  const name = await calls.create(speech);
  const rows: [transcript: string, more: object, fields: string[]][] = [
    [`transcripts/${newId()}`, {}, ["transcript"]],
    ["transcripts/x", {}, ["transcript"]],
    [`${name}/versions/${newId()}`, {}, ["transcript"]],
    [name, { useUri: true, uri: "https://example.org/a.mp3" }, ["uri", "useUri"]],
    [
      name,
      { metadata: { languageCode: "en-US", subject: "x", keywords: ["x"] } },
      ["metadata.keywords", "metadata.subject"],
    ],
    [name, { metadata: { languageCode: "xx" } }, ["metadata.languageCode"]],
    [name, { model: "nothing" }, ["model"]],
    [
      name,
      { diarizationConfig: { enableSpeakerDiarization: true, maxSpeakerCount: 2 } },
      ["diarizationConfig.enableSpeakerDiarization"],
    ],
    [
      name,
      { diarizationConfig: { minSpeakerCount: 3, maxSpeakerCount: 2 } },
      ["diarizationConfig.minSpeakerCount"],
    ],
    [name, { metadata: {} }, ["metadata.languageCode"]],
  ];
  for (const [transcript, more, fields] of rows) {
    const answer = await again(transcript, more);
    assert.equal(answer.status, 400, JSON.stringify(answer.json));
    assert.deepEqual(fieldsOf(answer), fields);
  }
  const withoutMedia = await calls.create();
  const { status, json } = await again(withoutMedia);
  assert.deepEqual([status, json.details[0].reason], [400, "TRANSCRIPT_WITHOUT_MEDIA"]);
});
