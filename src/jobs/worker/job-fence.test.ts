import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loopbackAllowed, toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { craftFlac } from "../../../test/jobs/crafted-media.ts";
import { openWorkerFixture, type WorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import { insertMedia } from "../../media/media-records.ts";
import { newId } from "../../std/ids.ts";
import { createLog } from "../../std/log.ts";
import { createFinish, LeaseLost } from "./finish-jobs.ts";
import { failureStatus, internalFailure } from "../job-failure.ts";
import type { JobLease } from "../job-queue.ts";
import { PieceSlots } from "./piece-slots.ts";
import { runJob } from "./run-job.ts";
import { prepareScratchFolder } from "../../describe/scratch-file.ts";
import {
  beginTries,
  clearTries,
  failTry,
  insertPiece,
  insertWindow,
  setMedia,
  writeProgress,
  type LeasedJob,
} from "./try-store.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
  await prepareScratchFolder(jobs.scratchFolder);
});

after(() => fixture[Symbol.asyncDispose]());

/** The next lease, once there is one. */
async function lease(): Promise<JobLease> {
  let found: JobLease | undefined;
  await until(async () => {
    [found] = await jobs.queue.lease([], 1);
    return found !== undefined;
  });
  assert.ok(found);
  return found;
}

async function begin(of: JobLease): Promise<LeasedJob> {
  const [job] = await beginTries(jobs.database.db, [of]);
  assert.ok(job);
  return job;
}

/** The lease runs out; nobody waits for it in a test. Resolves when that is found. */
async function lapse(): Promise<void> {
  const { pool } = jobs.database;
  await pool.query("update pgboss.job set heartbeat_on = now() - interval '1 minute'");
  await until(async () => (await rowsOf("pgboss.job where state = 'retry'")).length === 1);
}

async function rowsOf(from: string): Promise<unknown[]> {
  return (await jobs.database.pool.query(`select * from ${from}`)).rows;
}

/**
 * Takes a job to its end as a worker of its own would that does not notice that its lease is lost.
 */
async function finish(
  of: JobLease,
  job: LeasedJob,
  onSize: (isSmall: boolean) => void = () => {},
): Promise<void> {
  const { database, queue, store, sandbox, scratchFolder } = jobs;
  const { signal } = new AbortController();
  const parts = {
    database,
    queue,
    store,
    sandbox,
    scratchFolder,
    recognizer: toneRecognizer(),
    finish: createFinish({ database, queue }),
    allow: loopbackAllowed,
    keepMedia: true,
    mediaBytesMax: 1e8,
    meter: jobs.meter,
    durationMsMax: 3_600_000,
    retryMs: 5,
    log: createLog("silent"),
  };
  await runJob(parts, {
    lease: of,
    job,
    slots: new PieceSlots(2).of(of),
    signal,
    stopping: signal,
    onProgress() {},
    async onKept() {},
    onSize,
  });
}

/**
 * Two workers on one job: when the one that lost its lease comes to the end, seen from the other
 * one.
 */
const rows: readonly (readonly [string, (stale: () => Promise<void>) => Promise<void>])[] = [
  [
    "while the job waits for the next one",
    async (stale) => {
      await assert.rejects(stale(), LeaseLost);
      const next = await lease();
      await finish(next, await begin(next));
    },
  ],
  [
    "after the next lease, before its try",
    async (stale) => {
      const next = await lease();
      await assert.rejects(stale(), LeaseLost);
      await finish(next, await begin(next));
    },
  ],
  [
    "at the same time",
    async (stale) => {
      const next = await lease();
      const job = await begin(next);
      const [lost] = await Promise.allSettled([stale(), finish(next, job)]);
      assert.ok(lost.status === "rejected" && lost.reason instanceof LeaseLost);
    },
  ],
  [
    "after the other one's end",
    async (stale) => {
      const next = await lease();
      await finish(next, await begin(next));
      await assert.rejects(stale(), LeaseLost);
    },
  ],
];

test("a job has one transcript, whenever a worker without its lease comes to the end of it", async () => {
  for (const [index, [when, race]] of rows.entries()) {
    const name = await fixture.submit("/tones.wav", toneWav([10, 20, 30]));
    const first = await lease();
    const job = await begin(first);
    await lapse();
    await race(async () => await finish(first, job));
    const ended = await jobs.get(fixture.account, name);
    assert.equal((await fixture.transcriptOf(ended)).text, "10 20 30", when);
    assert.equal((await rowsOf("transcript")).length, index + 1, when);
    assert.equal((await rowsOf("pgboss.job where state <> 'completed'")).length, 0, when);
  }
  const { rows: sums } = await jobs.database.pool.query(`select
    (select sum(job_ms) from usage_day where subject_id = account_id) as counted,
    (select sum(duration_ms) from transcript_job where state = 'SUCCESS') as heard`);
  assert.ok(Number(sums[0].heard) > 0);
  assert.equal(sums[0].counted, sums[0].heard, "their audio counts once");
  await fixture.isTidy();
});

test("a recording that is longer than it says takes the place of a long one", async () => {
  await fixture.submit("/says-a-second.flac", craftFlac(65, 16_000));
  const of = await lease();
  const sizes: boolean[] = [];
  await finish(of, await begin(of), (isSmall) => void sizes.push(isSmall));
  assert.deepEqual(sizes, [true, false]);
});

test("nothing that a worker without its lease writes changes the job", async () => {
  const { db } = jobs.database;
  await fixture.submit("/tones.wav", toneWav([10, 20, 30]));
  const stale = await lease();
  await begin(stale);
  await lapse();
  const next = await lease();
  await begin(next);
  const mediaId = newId();
  const span = { startMs: 0, endMs: 1_000 };
  const writes: Record<string, () => Promise<unknown>> = {
    piece: () => insertPiece(db, stale, { ...span, index: 0 }, []),
    window: () => insertWindow(db, stale, 0, { ...span, speakers: { turns: [], speakers: [] } }),
    progress: () => writeProgress(db, stale, 50),
    tries: () => clearTries(db, stale),
    failure: async () =>
      db.transaction().execute(async (trx) => failTry(trx, stale, failureStatus(internalFailure))),
    extend: () => jobs.queue.extend(stale),
    end: () => db.transaction().execute(async (trx) => jobs.queue.end(trx, stale)),
    release: () => db.transaction().execute(async (trx) => jobs.queue.release(trx, stale, 0)),
    media: () =>
      db.transaction().execute(async (trx) => {
        const stored = { sizeBytes: 1, sha256: Buffer.alloc(32), contentType: "audio/wav" };
        await insertMedia(trx, { id: mediaId, accountId: fixture.account, ...stored });
        return await setMedia(trx, stale, mediaId);
      }),
    again: async () => (await beginTries(db, [stale]))[0],
  };
  const all = async (): Promise<unknown[]> =>
    await Promise.all(
      [
        "transcript_job",
        "transcript_job_piece",
        "transcript_job_window",
        "pgboss.job",
        "transcript",
      ].map(rowsOf),
    );
  const written = await all();
  for (const [name, write] of Object.entries(writes)) {
    assert.ok(!(await write()), name);
    assert.deepEqual(await all(), written, name);
  }
});
