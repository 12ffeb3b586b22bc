import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import {
  jobRequest,
  openJobs,
  type JobRequest,
  type JobsFixture,
} from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import type { Database } from "../database/database.ts";
import {
  ListTranscriptJobsRequestSchema,
  SubmitTranscriptJobRequestSchema,
  TranscriptJobSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";

let folder = "";
let database: Database;
let jobs: JobsFixture;
let account = "";
const url = "https://media.example/a.wav";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-jobs-test-"));
  database = await openTestDatabase();
  jobs = await openJobs(database, folder);
  account = await jobs.addAccount();
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function submitted(request: JobRequest, header?: Record<string, string>) {
  const message = create(SubmitTranscriptJobRequestSchema, request);
  const answer = await jobs.service.submitTranscriptJob(message, jobs.call(account, header));
  return toJson(TranscriptJobSchema, create(TranscriptJobSchema, answer));
}

test("`submitTranscriptJob()` returns only name, startTime and the metadata with originalUri", async () => {
  const answer = await submitted({
    metadata: {
      languageCode: "en-US",
      fileType: 1,
      subject: "Fundur",
      keywords: ["a", "b"],
      originalSource: { case: "originalUri", value: "https://elsewhere.example/" },
      waveformUri: "https://elsewhere.example/",
      originalCharLength: 7,
    },
    useUri: true,
    uri: url,
  });
  assert.match(answer.name ?? "", /^transcriptjob\/[0-9a-f-]{36}$/);
  assert.match(answer.startTime ?? "", /Z$/);
  assert.deepEqual(answer, {
    name: answer.name,
    startTime: answer.startTime,
    transcriptMetadata: {
      fileType: "AUDIO",
      languageCode: "en-US",
      originalUri: url,
      subject: "Fundur",
      keywords: ["a", "b"],
    },
  });
});

test("`submitTranscriptJob()` reports all violations at once", async () => {
  const metadata = { languageCode: "en-US", fileType: 1 } as const;
  const rows: readonly (readonly [string, JobRequest, Readonly<Record<string, RegExp>>])[] = [
    [
      "nothing",
      {},
      {
        "metadata.fileType": /AUDIO or VIDEO/,
        "metadata.languageCode": /required/,
        useUri: /required/,
        uri: /required/,
      },
    ],
    [
      "no model",
      { metadata: { ...metadata, languageCode: "fo-FO" }, useUri: true, uri: url },
      {
        "metadata.languageCode":
          /^is "fo-FO", which has no installed model; installed: en-US, is-IS$/,
      },
    ],
    [
      "no language",
      { metadata: { ...metadata, languageCode: "not a code" }, useUri: true, uri: url },
      { "metadata.languageCode": /not a BCP 47/ },
    ],
    ["no useUri", { metadata, uri: url }, { useUri: /required/ }],
    ["no uri", { metadata, useUri: true }, { uri: /required/ }],
    ["private", { metadata, useUri: true, uri: "http://10.0.0.1/" }, { uri: /not public/ }],
    ["port", { metadata, useUri: true, uri: "http://8.8.8.8:22/" }, { uri: /port 22/ }],
    ["file", { metadata, useUri: true, uri: "file:///etc/passwd" }, { uri: /https:/ }],
    ["upload as URL", { metadata, useUri: true, uri: `uploads/${newId()}` }, { uri: /https:/ }],
    ["URL as upload", { metadata, useUri: false, uri: url }, { uri: /uploads\/<id> is needed/ }],
    [
      "no upload",
      { metadata, useUri: false, uri: `uploads/${newId()}` },
      { uri: /not a finished upload/ },
    ],
    [
      "upload and type",
      { metadata: { languageCode: "en-US" }, useUri: false, uri: `uploads/${newId()}` },
      { "metadata.fileType": /AUDIO or VIDEO/, uri: /not a finished upload/ },
    ],
    [
      "long subject",
      { metadata: { ...metadata, subject: "a".repeat(1001) }, useUri: true, uri: url },
      { "metadata.subject": /1000/ },
    ],
    [
      "hints",
      {
        metadata: { ...metadata, fileType: 0 },
        useUri: true,
        uri: url,
        speechContexts: [{ phrases: ["Anna", "🎉", "anna", "a\u0007"], boost: 20.5 }],
      },
      {
        "metadata.fileType": /AUDIO or VIDEO/,
        "speechContexts[0].boost": /must be 0 to 20, not 20\.5/,
        "speechContexts[0].phrases[1]": /no letter or digit/,
        "speechContexts[0].phrases[2]": /which speechContexts\[0\]\.phrases\[0\] has already/,
        "speechContexts[0].phrases[3]": /control character/,
      },
    ],
    [
      "hints without a model",
      {
        metadata: { ...metadata, languageCode: "fo-FO" },
        useUri: true,
        uri: url,
        speechContexts: [{ phrases: ["Anna"] }],
      },
      { "metadata.languageCode": /no installed model/ },
    ],
    [
      "hints that the model cannot use",
      {
        metadata: { ...metadata, languageCode: "is-IS-x-exp" },
        useUri: true,
        uri: url,
        speechContexts: [{ phrases: ["Anna"] }],
      },
      { speechContexts: /^cannot be used by the model of is-IS$/ },
    ],
  ];
  const count = async (): Promise<number> =>
    (await database.db.selectFrom("transcript_job").select("id").execute()).length;
  const before = await count();
  for (const [name, request, expected] of rows) {
    const { code, violations } = await refusal(submitted(request));
    assert.equal(code, "invalid_argument", name);
    const found = violations.map(({ field }) => field).toSorted();
    assert.deepEqual(found, Object.keys(expected).toSorted(), name);
    for (const { field, description } of violations) {
      assert.match(description, expected[field] ?? /never/, `${name}: ${field}`);
    }
  }
  assert.equal(await count(), before);
});

test("`submitTranscriptJob()` accepts the experimental code of an installed language", async () => {
  const metadata = { languageCode: "is-IS-x-exp", fileType: 2 } as const;
  const answer = await submitted({ metadata, useUri: true, uri: url });
  assert.equal(answer.transcriptMetadata?.languageCode, "is-IS-x-exp");
});

test("`submitTranscriptJob()` accepts only a finished upload of the caller's account", async () => {
  const other = await jobs.addAccount();
  const insert = async (accountId: string, isFinished: boolean): Promise<string> => {
    const [id, mediaId] = [newId(), newId()];
    await database.db
      .insertInto("media")
      .values({
        id: mediaId,
        account_id: accountId,
        size_bytes: 1,
        sha256: randomBytes(32),
        content_type: "audio/wav",
      })
      .execute();
    await database.db
      .insertInto("upload")
      .values({
        id,
        account_id: accountId,
        transcript_id: null,
        expires_at: new Date(),
        media_id: isFinished ? mediaId : null,
      })
      .execute();
    return id;
  };
  const request = (id: string): JobRequest => ({
    metadata: { languageCode: "en-US", fileType: 1 },
    useUri: false,
    uri: `uploads/${id}`,
  });
  const mine = await insert(account, true);
  const { name, transcriptMetadata, upload } = await submitted(request(mine));
  assert.equal(upload, `uploads/${mine}`);
  assert.equal(transcriptMetadata?.originalUri, undefined);
  const row = await database.db
    .selectFrom("transcript_job")
    .where("id", "=", name?.split("/")[1] ?? "")
    .select(["upload_id", "media_uri", "media_id"])
    .executeTakeFirstOrThrow();
  assert.equal(row.upload_id, mine);
  assert.equal(row.media_uri, null);
  assert.notEqual(row.media_id, null);
  for (const id of [await insert(other, true), await insert(account, false)]) {
    const { violations } = await refusal(submitted(request(id)));
    assert.match(violations[0]?.description ?? "", /not a finished upload of this account/);
  }
});

test("`submitTranscriptJob()` returns the first job for the same key and body for 24 hours", async () => {
  const header = { "Idempotency-Key": "one" };
  const base = jobRequest(url, { a: "1", b: "2" });
  const swapped = jobRequest(url, { b: "2", a: "1" });
  const first = await submitted(base, header);
  assert.deepEqual(await submitted(swapped, header), first);
  const racers = await Promise.all(
    Array.from({ length: 8 }, async () => submitted(base, { "idempotency-key": "race" })),
  );
  assert.equal(new Set(racers.map(({ name }) => name)).size, 1);
  const error = await refusal(submitted(jobRequest(`${url}?other`), header));
  assert.equal(error.code, "already_exists");
  assert.notEqual((await submitted(base, { "Idempotency-Key": "two" })).name, first.name);
  const other = await jobs.addAccount();
  const theirs = await jobs.submit(other, base, header);
  assert.notEqual(theirs, first.name);
  await database.db
    .updateTable("transcript_job")
    .set({ started_at: new Date(Date.now() - 24 * 3_600_000 - 1_000) })
    .where("id", "=", first.name?.split("/")[1] ?? "")
    .execute();
  const later = await submitted(jobRequest(`${url}?other`), header);
  assert.notEqual(later.name, first.name);
  for (const bad of ["", "a b", "é", "x".repeat(256)]) {
    const { violations } = await refusal(submitted(base, { "Idempotency-Key": bad }));
    assert.equal(violations[0]?.field, "Idempotency-Key");
  }
});

test("`submitTranscriptJob()` with `validateOnly` reports violations and makes no job", async () => {
  const submitter = await jobs.addAccount();
  const validated = async (request: JobRequest) => {
    const message = create(SubmitTranscriptJobRequestSchema, { ...request, validateOnly: true });
    const answer = await jobs.service.submitTranscriptJob(message, jobs.call(submitter));
    return toJson(TranscriptJobSchema, create(TranscriptJobSchema, answer));
  };
  const metadata = { languageCode: "en-US", fileType: 1, subject: "Fundur" } as const;
  assert.deepEqual(await validated({ metadata, useUri: false }), {
    transcriptMetadata: { fileType: "AUDIO", languageCode: "en-US", subject: "Fundur" },
  });
  const wrong = { ...metadata, languageCode: "fo-FO" };
  await assert.rejects(validated({ metadata: wrong, useUri: true }), (error) => {
    assert.ok(error instanceof ServiceError);
    const fields = error.violations.map(({ field }) => field);
    assert.deepEqual(fields, ["metadata.languageCode", "uri"]);
    return true;
  });
  const request = create(ListTranscriptJobsRequestSchema, {});
  const { jobs: listed = [] } = await jobs.service.listTranscriptJobs(
    request,
    jobs.call(submitter),
  );
  assert.equal(listed.length, 0);
});
