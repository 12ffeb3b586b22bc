import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture, type WorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import {
  CancelTranscriptJobRequestSchema,
  TranscriptJobSchema,
  TranscriptJob_State as State,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../std/ids.ts";
import { newSecret } from "../../webhooks/sign-delivery.ts";
import { insertWebhook } from "../../webhooks/webhook-store.ts";
import { failureDetails } from "../job-failure.ts";
import { failJob, succeedJobs } from "./end-jobs.ts";
import { leaseJobs } from "./lease-jobs.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];
before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
});
after(() => fixture[Symbol.asyncDispose]());

async function addWebhook(accountId: string, ...eventTypes: string[]): Promise<string> {
  const id = newId();
  const url = "https://hooks.example/";
  const webhook = { id, accountId, url, displayName: "", eventTypes, secret: newSecret() };
  await jobs.database.db.transaction().execute(async (trx) => {
    assert.ok(await insertWebhook(trx, webhook));
  });
  return id;
}

/** Returns the messages about a job, to all webhooks. */
async function messagesAbout(name: string) {
  return await jobs.database.db
    .selectFrom("webhook_delivery")
    .where("job_id", "=", name.split("/")[1] ?? "")
    .select(["webhook_id", "event_type", "body", "state"])
    .execute();
}

test("every end of a job is sent once to each subscribed webhook, with the job as GET returns it", async () => {
  const { account } = fixture;
  const all = await addWebhook(account);
  const failures = await addWebhook(account, "transcriptjob.failed");
  await addWebhook(await jobs.addAccount());
  const succeeded = await fixture.submit("/tone.wav", toneWav([7, 14]));
  const failed = await fixture.submit("/missing.wav");
  {
    await using _worker = await jobs.openWorker(toneRecognizer());
    for (const name of [succeeded, failed]) await jobs.ended(account, name);
  }
  const cancelled = await fixture.submit("/tone.wav");
  const cancel = create(CancelTranscriptJobRequestSchema, { name: cancelled });
  await jobs.service.cancelTranscriptJob(cancel, jobs.call(account));
  await assert.rejects(async () => jobs.service.cancelTranscriptJob(cancel, jobs.call(account)));
  const rows: [name: string, state: State, code: number | undefined, webhooks: string[]][] = [
    [succeeded, State.SUCCESS, undefined, [all]],
    [failed, State.ERROR, 5, [all, failures]],
    [cancelled, State.CANCELLED, 1, [all, failures]],
  ];
  for (const [name, state, code, webhooks] of rows) {
    const job = await jobs.get(account, name);
    assert.deepEqual([job.state, job.error?.code], [state, code]);
    const messages = await messagesAbout(name);
    assert.deepEqual(messages.map((message) => message.webhook_id).toSorted(), webhooks.toSorted());
    const type = state === State.SUCCESS ? "transcriptjob.succeeded" : "transcriptjob.failed";
    const data = toJson(TranscriptJobSchema, job, { registry: failureDetails });
    for (const message of messages) {
      assert.deepEqual([message.event_type, message.state], [type, "PENDING"]);
      const body: { type: string; timestamp: string; data: unknown } = JSON.parse(message.body);
      assert.deepEqual([body.type, body.data], [type, data]);
      const at = Number(job.lastUpdatedTime?.seconds) * 1000;
      assert.equal(Math.floor(Date.parse(body.timestamp) / 1000) * 1000, at);
    }
  }
});

test("no webhook is notified of an end that is rolled back, or of one with a lost lease", async () => {
  const account = await jobs.addAccount();
  await addWebhook(account);
  const { db } = jobs.database;
  const name = await jobs.submit(account, {
    metadata: { languageCode: "en-US", fileType: 1 },
    useUri: true,
    uri: "https://media.example/a.wav",
  });
  const [job] = await leaseJobs(db, { passedOver: [], countMax: 1 });
  const held = job?.lease ?? assert.fail();
  assert.equal(name, `transcriptjob/${held.id}`);
  const lost = { ...held, number: held.number - 1 };
  const success = { transcriptId: newId(), durationMs: 1_000, model: "tones", keepsMedia: false };
  const error = { code: 13, message: "a test" };
  await db.transaction().execute(async (trx) => {
    assert.equal(await succeedJobs(trx, [{ ...success, lease: lost }]), undefined);
    assert.equal(await failJob(trx, lost, error), false);
  });
  for (const isWell of [true, false]) {
    const rolledBack = db.transaction().execute(async (trx) => {
      const isEnded = isWell
        ? await succeedJobs(trx, [{ ...success, lease: held }])
        : await failJob(trx, held, error);
      assert.ok(isEnded);
      throw new Error("rolled back");
    });
    await assert.rejects(rolledBack, /rolled back/);
  }
  assert.deepEqual(await messagesAbout(name), []);
  await db.transaction().execute(async (trx) => {
    assert.ok(await failJob(trx, held, error));
    assert.equal(await failJob(trx, held, error), false);
  });
  assert.equal((await messagesAbout(name)).length, 1);
});
