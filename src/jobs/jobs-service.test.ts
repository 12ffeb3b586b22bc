import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import { withResult } from "../../test/fixtures/job-result.ts";
import { jobRequest, openJobs, type JobsFixture } from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import type { Database } from "../database/database.ts";
import {
  CancelTranscriptJobRequestSchema,
  DeleteTranscriptJobRequestSchema,
  GetTranscriptJobRequestSchema,
  ListTranscriptJobsRequestSchema,
  ListTranscriptJobsResponseSchema,
  TranscriptJob_State as State,
  TranscriptJobSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import { newId } from "../std/ids.ts";
import { cancelledStatus, failureDetails } from "./job-failure.ts";

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

test("`getTranscriptJob()` and `cancelTranscriptJob()` return the same error for foreign, absent and malformed names", async () => {
  const other = await jobs.addAccount();
  const theirs = await jobs.submit(other, jobRequest(url));
  const names = [theirs, `transcriptjob/${newId()}`, "transcriptjob/x", "transcripts/a", "", "%"];
  for (const name of names) {
    const get = create(GetTranscriptJobRequestSchema, { name });
    const cancel = create(CancelTranscriptJobRequestSchema, { name });
    for (const answer of [
      refusal(Promise.resolve(jobs.service.getTranscriptJob(get, jobs.call(account)))),
      refusal(Promise.resolve(jobs.service.cancelTranscriptJob(cancel, jobs.call(account)))),
    ]) {
      const { code, reason, message } = await answer;
      assert.deepEqual([code, reason], ["not_found", "JOB_NOT_FOUND"]);
      assert.equal(message, `there is no job ${JSON.stringify(name)}`);
    }
  }
  assert.equal((await jobs.get(other, theirs)).state, State.PROCESSING);
});

test("`deleteTranscriptJob()` removes a job once, also one that has not ended", async () => {
  const name = await jobs.submit(account, jobRequest(url));
  const remove = async (by: string) =>
    await refusal(
      Promise.resolve(
        jobs.service.deleteTranscriptJob(
          create(DeleteTranscriptJobRequestSchema, { name }),
          jobs.call(by),
        ),
      ),
    );
  assert.equal((await remove(await jobs.addAccount())).reason, "JOB_NOT_FOUND");
  const request = create(DeleteTranscriptJobRequestSchema, { name });
  await jobs.service.deleteTranscriptJob(request, jobs.call(account));
  const again = await remove(account);
  assert.deepEqual([again.code, again.reason], ["not_found", "JOB_NOT_FOUND"]);
});

test("`cancelTranscriptJob()` ends a waiting job as CANCELLED, once", async () => {
  const name = await jobs.submit(account, jobRequest(url));
  const request = create(CancelTranscriptJobRequestSchema, { name });
  const answer = await jobs.service.cancelTranscriptJob(request, jobs.call(account));
  const { state, progressPercent, error, transcript } = withResult(
    create(TranscriptJobSchema, answer),
  );
  assert.deepEqual([state, progressPercent, transcript], [State.CANCELLED, 0, undefined]);
  assert.ok(error);
  assert.deepEqual(toJson(StatusSchema, error, { registry: failureDetails }), cancelledStatus);
  const again = await refusal(
    Promise.resolve(jobs.service.cancelTranscriptJob(request, jobs.call(account))),
  );
  assert.deepEqual([again.code, again.reason], ["failed_precondition", "JOB_ENDED"]);
});

test("`listTranscriptJobs()` lists the caller's jobs, newest first, in pages", async () => {
  const lister = await jobs.addAccount();
  const names = [];
  for (let i = 0; i < 7; i++) names.unshift(await jobs.submit(lister, jobRequest(url)));
  const listed: string[] = [];
  let pageToken = "";
  do {
    const request = create(ListTranscriptJobsRequestSchema, { pageSize: 3, pageToken });
    const answer = await jobs.service.listTranscriptJobs(request, jobs.call(lister));
    const page = create(ListTranscriptJobsResponseSchema, answer);
    listed.push(...page.jobs.map(({ name }) => name));
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && listed.length < 20);
  assert.deepEqual(listed, names);
  const first = create(ListTranscriptJobsRequestSchema, { pageSize: 3 });
  const { nextPageToken = "" } = await jobs.service.listTranscriptJobs(first, jobs.call(lister));
  for (const [request, field] of [
    [{ pageSize: -1 }, "pageSize"],
    [{ pageToken: "x" }, "pageToken"],
    [{ pageToken: nextPageToken }, "pageToken"],
  ] as const) {
    const message = create(ListTranscriptJobsRequestSchema, request);
    const answer = jobs.service.listTranscriptJobs(message, jobs.call(account));
    assert.equal((await refusal(Promise.resolve(answer))).violations[0]?.field, field);
  }
});
