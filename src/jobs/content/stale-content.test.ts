import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { countQueues } from "../../../test/fixtures/counted-queues.ts";
import { openJobs, type JobsFixture } from "../../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../../test/fixtures/open-test-database.ts";
import { refusal } from "../../../test/fixtures/refusal.ts";
import type { Database } from "../../database/database.ts";
import {
  SubmitTranscriptJobRequestSchema,
  TranscriptJob_State as State,
  TranscriptMetadata_FileType as FileType,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { createLog } from "../../std/log.ts";
import { contentMsMax } from "./content-store.ts";
import { endStaleJobs } from "./stale-content.ts";

let database: Database & { readonly folder: string };
let jobs: JobsFixture;
const opened = new AsyncDisposableStack();
before(async () => {
  database = opened.use(await openTestDatabase());
  jobs = opened.use(await openJobs(database, join(database.folder, "jobs")));
});
after(() => opened.disposeAsync());

async function submit(account: string): Promise<string> {
  const request = create(SubmitTranscriptJobRequestSchema, {
    metadata: { fileType: FileType.AUDIO, languageCode: "en-US" },
    useUri: false,
  });
  return (await jobs.service.submitTranscriptJob(request, jobs.call(account))).name ?? "";
}

async function uploadOf(name: string): Promise<string | undefined> {
  const row = await database.db
    .selectFrom("transcript_job")
    .innerJoin("upload", "upload.id", "upload_id")
    .where("transcript_job.id", "=", name.slice("transcriptjob/".length))
    .select("upload.id")
    .executeTakeFirst();
  return row?.id;
}

test("a job whose content is not complete in time ends as ERROR, and its bytes are deleted", async () => {
  const account = await jobs.addAccount();
  const name = await submit(account);
  const uploadId = (await uploadOf(name)) ?? "";
  const half = (async function* () {
    yield Buffer.from("half");
  })();
  await jobs.store.partial.append(uploadId, 0, half, { bytesMax: 10 });
  const { queues, valueOf } = countQueues();
  const recorder = queues.jobs("transcript");
  const sweep = async (now: number) => {
    const { db } = database;
    const { store } = jobs;
    await endStaleJobs({ db, store, recorder, log: createLog("silent"), now: () => now });
  };
  const counted = async () =>
    await valueOf("hlust_job_failures_total", { kind: "transcript", reason: "CONTENT_MISSING" });
  await sweep(Date.now() + contentMsMax - 60_000);
  assert.equal((await jobs.get(account, name)).state, State.WAITING_FOR_CONTENT);
  assert.equal(await counted(), 0);
  await sweep(Date.now() + contentMsMax + 60_000);
  assert.equal(await counted(), 1);
  const { state, error } = await jobs.get(account, name);
  assert.equal(state, State.ERROR);
  assert.match(error?.message ?? "", /was not complete 24 hours after its last write/);
  assert.equal(await uploadOf(name), undefined);
  assert.deepEqual(await Array.fromAsync(jobs.store.partial.list()), []);
});

test("a job that waits for content counts as unfinished, and is not leased", async () => {
  const account = await jobs.addAccount();
  const limits = JSON.stringify({ queuedJobs: 2 });
  const { db } = database;
  await db.updateTable("account").set({ limits }).where("id", "=", account).execute();
  const name = await submit(account);
  await submit(account);
  const { reason, metadata } = await refusal(submit(account));
  assert.equal(reason, "TOO_MANY_JOBS");
  assert.deepEqual(metadata, { limit: "queuedJobs", value: "2", of: "account" });
  await jobs.service.cancelTranscriptJob(
    { $typeName: "hlust.transcripts.v1alpha1.CancelTranscriptJobRequest", name },
    jobs.call(account),
  );
  assert.equal(await uploadOf(name), undefined);
  assert.match(await submit(account), /^transcriptjob\//);
  const { rows } = await database.pool.query(
    "select from upload where not exists (select from transcript_job where upload_id = upload.id)",
  );
  assert.equal(rows.length, 0);
});
