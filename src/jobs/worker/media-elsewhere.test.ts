// A worker with a media folder that differs from that of the other nodes.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { countQueues } from "../../../test/fixtures/counted-queues.ts";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { openDiskStore } from "../../media/disk-store.ts";
import type { MediaStore } from "../../media/media-store.ts";
import { newId } from "../../std/ids.ts";
import { createLog } from "../../std/log.ts";

let fixture: WorkerFixture;
/** The media store of a node that shares no folder with the others. */
let lacking: MediaStore;
const opened = new AsyncDisposableStack();
before(async () => {
  fixture = opened.use(await openWorkerFixture());
  const folder = join(fixture.folder, "lacking");
  lacking = opened.use(await openDiskStore(folder, { log: createLog("silent") }));
});
after(() => opened.disposeAsync());

/** Submits a recording that was uploaded. Returns its media and the job. */
async function submitUpload(): Promise<{ mediaId: string; name: string }> {
  const { jobs, account } = fixture;
  const { db } = jobs.database;
  const mediaId = await jobs.addMedia(account, toneWav(numbers(8)));
  await sql`delete from media_description`.execute(db);
  const upload = newId();
  await db
    .insertInto("upload")
    .values({
      id: upload,
      account_id: account,
      transcript_id: null,
      expires_at: new Date(),
      media_id: mediaId,
    })
    .execute();
  const metadata = { languageCode: "en-US", fileType: 1 } as const;
  const request = { metadata, useUri: false, uri: `uploads/${upload}` };
  return { mediaId, name: await jobs.submit(account, request) };
}

async function attemptsOf(name: string): Promise<number> {
  const { db } = fixture.jobs.database;
  const row = await db
    .selectFrom("transcript_job")
    .where("id", "=", name.split("/").at(-1) ?? "")
    .select("tries")
    .executeTakeFirst();
  return row?.tries ?? 0;
}

test("a job whose media is missing on one worker is done by another one", async () => {
  const { jobs, account } = fixture;
  await using _lacking = await jobs.openWorker(toneRecognizer(), { store: lacking, retryMs: 10 });
  const { name } = await submitUpload();
  await until(async () => (await attemptsOf(name)) === 1);
  await using _other = await jobs.openWorker(toneRecognizer(), { retryMs: 10 });
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
});

test("a job whose media is missing on every worker fails with that reason after its last attempt", async () => {
  const { jobs, account } = fixture;
  const { mediaId, name } = await submitUpload();
  await jobs.store.delete(mediaId);
  const { queues, valueOf } = countQueues();
  const options = { retryMs: 10, recorder: queues.jobs("transcript") };
  const workers = [1, 2, 3].map(async () => await jobs.openWorker(toneRecognizer(), options));
  await using stack = new AsyncDisposableStack();
  for (const worker of await Promise.all(workers)) stack.use(worker);
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.ERROR);
  assert.equal(job.error?.code, 5);
  assert.match(job.error?.message ?? "", /not in the media store in any of the 3 attempts/);
  assert.equal(await attemptsOf(name), 3);
  const kind = "transcript";
  assert.equal(await valueOf("hlust_job_attempts_total", { kind }), 3);
  assert.equal(await valueOf("hlust_job_attempts_ended_total", { kind, result: "retried" }), 2);
  assert.equal(await valueOf("hlust_job_attempts_ended_total", { kind, result: "failed" }), 1);
  assert.equal(await valueOf("hlust_job_failures_total", { kind, reason: "MEDIA_LOST" }), 1);
});

test("media that is missing on one describer is described by another one", async () => {
  const { jobs, account } = fixture;
  const { db } = jobs.database;
  const attemptsAt = async (mediaId: string) =>
    (
      await db
        .selectFrom("media_description")
        .where("media_id", "=", mediaId)
        .select("tries")
        .executeTakeFirst()
    )?.tries;
  await using _lacking = await jobs.openDescriber({ store: lacking });
  const mediaId = await jobs.addMedia(account, toneWav(numbers(4)));
  await until(async () => (await attemptsAt(mediaId)) === 1);
  await using _other = await jobs.openDescriber();
  await until(async () => (await attemptsAt(mediaId)) === undefined);
  const { problem, duration_ms: ms } = await db
    .selectFrom("media")
    .where("id", "=", mediaId)
    .select(["problem", "duration_ms"])
    .executeTakeFirstOrThrow();
  assert.equal(problem, null);
  assert.ok((ms ?? 0) > 0);
});
