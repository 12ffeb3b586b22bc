import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import { openJobs, type JobRequest, type JobsFixture } from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Database } from "../database/database.ts";
import {
  ListTranscriptJobsRequestSchema,
  SubmitTranscriptJobRequestSchema,
  TranscriptJobSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";

let folder = "";
let database: Database;
let jobs: JobsFixture;
let account = "";

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

async function validated(request: JobRequest) {
  const message = create(SubmitTranscriptJobRequestSchema, { ...request, validateOnly: true });
  const answer = await jobs.service.submitTranscriptJob(message, jobs.call(account));
  return toJson(TranscriptJobSchema, create(TranscriptJobSchema, answer));
}

test("`submitTranscriptJob()` with `validateOnly` reports violations and makes no job", async () => {
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
  const { jobs: listed = [] } = await jobs.service.listTranscriptJobs(request, jobs.call(account));
  assert.equal(listed.length, 0);
});
