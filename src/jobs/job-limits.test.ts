// Limits of jobs: the number of waiting jobs, the amount of audio, and the room for their media.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { addApiKey } from "../../test/fixtures/auth-fixture.ts";
import {
  jobRequest,
  openJobs,
  serveMedia,
  toneRecognizer,
  toneWav,
  type JobsFixture,
} from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import { callerKey, callerOf } from "../auth/caller.ts";
import { readUsageDays } from "../auth/usage-store.ts";
import type { Database } from "../database/database.ts";
import {
  SubmitTranscriptJobRequestSchema,
  TranscriptJob_State as State,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

const open = new AsyncDisposableStack();
let database: Database & { readonly folder: string };
let jobs: JobsFixture;
let url = "";
/** The file has a header of 44 bytes, then 16-bit samples at 16 kHz. */
const wav = toneWav([5, 6, 7]);
const wavMs = (wav.length - 44) / 32;
before(async () => {
  database = open.use(await openTestDatabase());
  jobs = open.use(await openJobs(database, join(database.folder, "jobs")));
  const host = await serveMedia((request, response) => {
    const length = request.url === "/chunked.wav" ? {} : { "content-length": wav.length };
    response.writeHead(200, { "content-type": "audio/wav", ...length });
    response.end(wav);
  });
  open.use(host);
  ({ url } = host);
});
after(() => open[Symbol.asyncDispose]());

async function newAccount(limits: Record<string, number>): Promise<string> {
  const id = await jobs.addAccount();
  const update = database.db.updateTable("account").set({ limits: JSON.stringify(limits) });
  await update.where("id", "=", id).execute();
  return id;
}

async function newKey(accountId: string, limits: Record<string, number>): Promise<string> {
  const { id } = await addApiKey(database.db, accountId, ["transcripts.write"]);
  const update = database.db.updateTable("api_key").set({ limits: JSON.stringify(limits) });
  await update.where("id", "=", id).execute();
  return id;
}

async function submit(accountId: string, keyId: string | undefined, path = "/a.wav") {
  const context = jobs.call(accountId);
  context.values.set(callerKey, { ...callerOf(context), keyId });
  const request = create(SubmitTranscriptJobRequestSchema, jobRequest(`${url}${path}`));
  return (await jobs.service.submitTranscriptJob(request, context)).name ?? "";
}

test("the limit of a key's unfinished jobs holds for concurrent submits, and its account may have more", async () => {
  const account = await newAccount({ queuedJobs: 5 });
  const [limited, free] = [await newKey(account, { queuedJobs: 2 }), await newKey(account, {})];
  const racing = await Promise.allSettled(
    Array.from({ length: 10 }, () => submit(account, limited)),
  );
  assert.equal(racing.filter(({ status }) => status === "fulfilled").length, 2);
  const ofKey = await refusal(submit(account, limited));
  assert.equal(ofKey.reason, "TOO_MANY_JOBS");
  assert.deepEqual(ofKey.metadata, { limit: "queuedJobs", value: "2", of: "key" });
  const more = await Promise.allSettled(Array.from({ length: 10 }, () => submit(account, free)));
  assert.equal(more.filter(({ status }) => status === "fulfilled").length, 3);
  const ofAccount = await refusal(submit(account, undefined));
  assert.deepEqual(ofAccount.metadata, { limit: "queuedJobs", value: "5", of: "account" });
  await submit(await newAccount({}), undefined);
  await database.pool.query("delete from transcript_job");
});

test("a limit of 0 allows any number of jobs, even if the settings limit the account", async () => {
  const account = await newAccount({ queuedJobs: 0 });
  const { account: limits } = await jobs.meter.limitsOf({ accountId: account, keyId: undefined });
  assert.equal(limits.queuedJobs, 0);
  await submit(account, undefined);
  await database.pool.query("delete from transcript_job");
});

test("the audio of a successful job counts for its account and its key, and beyond the limit submits are refused", async () => {
  const account = await newAccount({ audioSecondsPerDay: 1 });
  const key = await newKey(account, {});
  const name = await submit(account, key);
  await using _worker = await jobs.openWorker(toneRecognizer());
  const { state } = await jobs.ended(account, name);
  assert.equal(state, State.SUCCESS);
  assert.ok(wavMs > 1_000);
  for (const id of [account, key]) {
    const [day] = await readUsageDays(database.db, id, { limit: 1 });
    assert.equal(day?.jobMs, wavMs);
  }
  await jobs.meter.share();
  await jobs.meter.share();
  assert.equal((await refusal(submit(account, key))).reason, "AUDIO_LIMIT");
});

test("a job that starts after the audio limit of the day is reached fails with that reason", async () => {
  const account = await newAccount({ audioSecondsPerDay: 1 });
  const name = await submit(account, undefined);
  await database.db
    .insertInto("usage_day")
    .values({
      subject_id: account,
      account_id: account,
      day: new Date().toISOString().slice(0, 10),
      requests: 0,
      live_ms: 1_000,
      short_ms: 0,
      job_ms: 0,
    })
    .execute();
  await jobs.meter.share();
  await using _worker = await jobs.openWorker(toneRecognizer());
  const { state, error } = await jobs.ended(account, name);
  assert.equal(state, State.ERROR);
  assert.equal(error?.code, 8);
  assert.match(error?.message ?? "", /^the account has used its limit of 1 s of audio/);
});

for (const path of ["/a.wav", "/chunked.wav"]) {
  test(`a job whose media exceeds the account's storage limit fails with that reason and stores nothing (${path})`, async () => {
    const account = await newAccount({ storedBytes: wav.length + 10 });
    await using _worker = await jobs.openWorker(toneRecognizer());
    const kept = await jobs.ended(account, await submit(account, undefined, path));
    assert.equal(kept.state, State.SUCCESS);
    const { state, error } = await jobs.ended(account, await submit(account, undefined, path));
    assert.equal(state, State.ERROR);
    assert.equal(error?.code, 8);
    assert.match(error?.message ?? "", /^the account can store \d+ bytes of media/);
    const rows = await database.db
      .selectFrom("media")
      .where("account_id", "=", account)
      .select("id")
      .execute();
    assert.equal(rows.length, 1);
    await assertStored();
  });
}

test("jobs that fetch concurrently keep their media only if there is room for it", async () => {
  const account = await newAccount({ storedBytes: 2 * wav.length + 10 });
  const names = await Promise.all(
    Array.from({ length: 6 }, async () => submit(account, undefined)),
  );
  await using _worker = await jobs.openWorker(toneRecognizer(), { parallelism: 4 });
  const ended = await Promise.all(names.map(async (name) => jobs.ended(account, name)));
  assert.equal(ended.filter(({ state }) => state === State.SUCCESS).length, 2);
  await assertStored();
});

test("media that is not kept needs no room", async () => {
  const account = await newAccount({ storedBytes: 10 });
  await using _worker = await jobs.openWorker(toneRecognizer(), { keepMedia: false });
  const { state } = await jobs.ended(account, await submit(account, undefined));
  assert.equal(state, State.SUCCESS);
});

/** Checks that the store contains exactly the media that the database lists. */
async function assertStored(): Promise<void> {
  await until(async () => {
    const rows = await database.db.selectFrom("media").select("id").execute();
    const stored: string[] = [];
    for await (const { id } of jobs.store.list()) stored.push(id);
    return (
      stored.toSorted().join() ===
      rows
        .map(({ id }) => id)
        .toSorted()
        .join()
    );
  });
}
