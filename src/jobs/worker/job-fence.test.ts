import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loopbackAllowed, toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { craftFlac } from "../../../test/jobs/crafted-media.ts";
import { openWorkerFixture, type WorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { insertMedia } from "../../media/media-records.ts";
import { createAccountHints } from "../../vocabulary/account-hints.ts";
import { newId } from "../../std/ids.ts";
import { createLog } from "../../std/log.ts";
import { LeaseLost } from "../../database/lease.ts";
import { EngineSlots } from "./engine-slots.ts";
import { createFinish } from "./finish-jobs.ts";
import { insertPiece, insertWindow } from "./job-checkpoints.ts";
import { JobMedia } from "./job-media.ts";
import { JobProgress } from "./job-progress.ts";
import { failureStatus, internalFailure } from "../job-failure.ts";
import { runJob } from "./run-job.ts";
import { prepareScratchFolder } from "../../describe/scratch-file.ts";
import { failJob } from "./end-jobs.ts";
import {
  countLastAttempt,
  extendJob,
  leaseJobs,
  releaseJob,
  resetAttempts,
  setMedia,
  type LeasedJob,
} from "./lease-jobs.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
  await prepareScratchFolder(jobs.scratchFolder);
});

after(() => fixture[Symbol.asyncDispose]());

async function lease(): Promise<LeasedJob> {
  const [job] = await leaseJobs(jobs.database.db, { passedOver: [], countMax: 1 });
  return job ?? assert.fail("no job is due");
}

/** Lets the leases expire without a wait in the test. */
async function lapse(): Promise<void> {
  await jobs.database.pool.query("update transcript_job set due_at = now()");
}

async function rowsOf(from: string): Promise<unknown[]> {
  return (await jobs.database.pool.query(`select * from ${from}`)).rows;
}

/** Runs a job to its end, as a worker does that has not noticed the loss of its lease. */
async function finish(job: LeasedJob, sized: (isSmall: boolean) => void = () => {}): Promise<void> {
  const { database, store, sandbox, scratchFolder, meter } = jobs;
  const { db } = database;
  const log = createLog("silent");
  const rules = { allow: loopbackAllowed, keepMedia: true, mediaBytesMax: 1e8 };
  const parts = {
    db,
    media: new JobMedia({ db, store, scratchFolder, log }, rules),
    recognition: { recognizer: toneRecognizer(), sandbox, durationMsMax: 3_600_000, retryMs: 5 },
    meter,
    finish: createFinish(db),
    accountHints: createAccountHints({ db }),
    log,
  };
  const { signal } = new AbortController();
  const slots = new EngineSlots(2);
  await runJob(parts, {
    job,
    progress: new JobProgress(),
    signal,
    stopping: signal,
    takeEngine: async (until) => slots.take({ id: job.lease.id, accountId: job.accountId }, until),
    sized,
    uses() {},
    mediaKept() {},
    async pieceKept() {},
  });
}

/**
 * Two workers on one job: the moments at which the worker that lost its lease finishes, relative to
 * the other worker.
 */
const rows: readonly (readonly [string, (stale: () => Promise<void>) => Promise<void>])[] = [
  [
    "while no other worker has leased the job",
    async (stale) => {
      await stale();
      await assert.rejects(lease(), /no job is due/);
    },
  ],
  [
    "after the next lease",
    async (stale) => {
      const next = await lease();
      await assert.rejects(stale(), LeaseLost);
      await finish(next);
    },
  ],
  [
    "at the same time",
    async (stale) => {
      const next = await lease();
      const [lost] = await Promise.allSettled([stale(), finish(next)]);
      assert.ok(lost.status === "rejected" && lost.reason instanceof LeaseLost);
    },
  ],
  [
    "after the other one's end",
    async (stale) => {
      await finish(await lease());
      await assert.rejects(stale(), LeaseLost);
    },
  ],
];

test("a job has one transcript, whenever a worker that lost its lease finishes it", async () => {
  for (const [index, [when, race]] of rows.entries()) {
    const name = await fixture.submit("/tones.wav", toneWav([10, 20, 30]));
    const first = await lease();
    await lapse();
    await race(async () => await finish(first));
    const ended = await jobs.get(fixture.account, name);
    assert.equal((await fixture.transcriptOf(ended)).text, "10 20 30", when);
    assert.equal((await rowsOf("transcript")).length, index + 1, when);
    assert.equal((await rowsOf("transcript_job where state <> 'SUCCESS'")).length, 0, when);
  }
  const { rows: sums } = await jobs.database.pool.query(`select
    (select sum(job_ms) from usage_day where subject_id = account_id) as counted,
    (select sum(duration_ms) from transcript_job where state = 'SUCCESS') as recognized`);
  assert.ok(Number(sums[0].recognized) > 0);
  assert.equal(sums[0].counted, sums[0].recognized, "their audio counts once");
  await fixture.isTidy();
});

test("a recording that is longer than its header states is treated as a long one", async () => {
  await fixture.submit("/says-a-second.flac", craftFlac(65, 16_000));
  const sizes: boolean[] = [];
  await finish(await lease(), (isSmall) => void sizes.push(isSmall));
  assert.deepEqual(sizes, [true, false]);
});

test("nothing that a worker writes after it has lost its lease changes the job", async () => {
  const { db } = jobs.database;
  await fixture.submit("/tones.wav", toneWav([10, 20, 30]));
  const { lease: stale } = await lease();
  await lapse();
  await lease();
  const mediaId = newId();
  const span = { startMs: 0, endMs: 1_000 };
  const writes: Record<string, () => Promise<unknown>> = {
    piece: () => insertPiece(db, stale, { ...span, index: 0 }, []),
    window: () => insertWindow(db, stale, 0, { ...span, speakers: { turns: [], speakers: [] } }),
    progress: () => extendJob(db, stale, 50),
    attempts: () => resetAttempts(db, stale),
    last: () => countLastAttempt(db, stale),
    failure: async () =>
      db.transaction().execute(async (trx) => failJob(trx, stale, failureStatus(internalFailure))),
    extend: () => extendJob(db, stale),
    release: () => releaseJob(db, stale, { isForgiven: true }),
    media: () =>
      db.transaction().execute(async (trx) => {
        const stored = { sizeBytes: 1, sha256: Buffer.alloc(32), contentType: "audio/wav" };
        await insertMedia(trx, { id: mediaId, accountId: fixture.account, ...stored });
        return await setMedia(trx, stale, mediaId);
      }),
  };
  const all = async (): Promise<unknown[]> =>
    await Promise.all(
      ["transcript_job", "transcript_job_piece", "transcript_job_window", "transcript"].map(rowsOf),
    );
  const written = await all();
  const learnsAtOnce = new Set(["piece", "window", "last"]);
  for (const [name, write] of Object.entries(writes)) {
    if (learnsAtOnce.has(name)) await assert.rejects(write(), LeaseLost, name);
    else assert.ok(!(await write()), name);
    assert.deepEqual(await all(), written, name);
  }
});
