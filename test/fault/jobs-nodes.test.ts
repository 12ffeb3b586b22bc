// Nodes of both roles on one database and one bucket, while each of them fails and recovers, and
// clocks are moved.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../../src/database/database.ts";
import { openMediaStore } from "../../src/media/open-media-store.ts";
import { createLog } from "../../src/std/log.ts";
import { flacOf } from "../fixtures/flac.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openTestBucket } from "../fixtures/open-test-bucket.ts";
import { openTestS3 } from "../fixtures/open-test-s3.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { until } from "../fixtures/until.ts";
import { chanceOf } from "./chance.ts";
import { openCluster, type ClusterNode } from "./cluster.ts";
import { fsckClean } from "./fsck-clean.ts";
import { HeldMedia } from "./held-media.ts";
import { JobLedger, type LedgerJob, type Recording } from "./job-ledger.ts";
import { assertTidy } from "./jobs-tidy.ts";
import { scriptedSamples } from "./scripted-recording.ts";

const seed = Number(process.env["FAULT_SEED"] ?? Date.now() % 1_000_000);
const chance = chanceOf(seed);
const hourSeconds = 3_600;
/** This is more than the two workers run concurrently, so that some jobs wait. */
const manyJobs = 10;

const idOf = ({ name }: LedgerJob): string => name.split("/")[1] ?? "";
const begun = (node: ClusterNode, job: LedgerJob): number => node.begunCount(idOf(job));

/** Returns the worker that has begun a job. */
async function holderOf(job: LedgerJob, workers: readonly ClusterNode[]): Promise<ClusterNode> {
  let holder: ClusterNode | undefined;
  await until(async () => {
    holder = workers.find((worker) => begun(worker, job) > 0);
    return holder !== undefined;
  }, 60_000);
  return holder ?? assert.fail();
}

const timeout = 600_000;

test(`nodes on one database and one bucket (FAULT_SEED=${seed})`, { timeout }, async (context) => {
  await using s3 = await openTestS3();
  const bucket = await openTestBucket(s3);
  const media = {
    S3_BUCKET: bucket.settings.bucket,
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: s3.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  };
  await using cluster = await openCluster(media);
  const { postgres, databaseClock } = cluster;
  const apis = [cluster.addNode("api"), cluster.addNode("api")] as const;
  const workers = [cluster.addNode("worker"), cluster.addNode("worker")] as const;
  const nodes = [...workers, ...apis];
  const otherThan = (one: ClusterNode) => workers.find((worker) => worker !== one) ?? assert.fail();
  // The first node creates the account and its key.
  await apis[0].start();
  await Promise.all([apis[1], ...workers].map(async (node) => node.start()));

  const samples = scriptedSamples([700, 2_300, 1_200], { pauseMs: 900 });
  const heldBytes = wavOf(scriptedSamples([4_100, 900], { pauseMs: 1_500 }));
  const held = new HeldMedia(heldBytes);
  const flac = flacOf(wavOf(scriptedSamples([3_000, 500, 2_600, 9_000], { pauseMs: 1_200 })));
  await using host = await openMediaHost({
    "/quick.wav": wavOf(samples),
    "/flac": flac,
    "/held.wav": held.listener,
  });
  const recordings: Record<"quick" | "flac" | "uploaded" | "held", Recording> = {
    quick: { name: "quick", uri: `${host.address}/quick.wav`, bytes: wavOf(samples) },
    flac: { name: "flac", uri: `${host.address}/flac`, bytes: flac },
    uploaded: { name: "uploaded", bytes: flac },
    held: { name: "held", uri: `${host.address}/held.wav`, bytes: heldBytes },
  };
  const all = Object.values(recordings);
  // Calls alternate between the nodes: each node must have the results of the other.
  let calls = 0;
  const address = () => (apis[(calls += 1) % 2] ?? apis[0]).service.address;
  const ledger = new JobLedger({ key: apis[0].service.key, address }, chance);
  const submitAll = async () => Promise.all(all.map(async (each) => ledger.submit(each)));
  const triesOf = async (job: LedgerJob) => {
    const [row] = await postgres.query(
      `select tries from transcript_job where id = '${idOf(job)}'`,
    );
    return row?.["tries"];
  };

  await context.test("without faults, they act as one service", async () => {
    await ledger.learn(all);
    await ledger.submitAgain(4);
    held.hold();
    const job = await ledger.submit(recordings.held);
    await until(async () => held.waiting === 1, 60_000);
    await ledger.cancel(job);
    await until(async () => held.waiting === 0, 60_000);
    held.release();
  });

  await ledger.during(async () => {
    await context.test(
      "each node is stopped and started, and no job waits for a lease to expire",
      async () => {
        for (const api of apis) {
          held.hold();
          const jobs = await submitAll();
          const job = jobs.at(-1) ?? assert.fail();
          const worker = await holderOf(job, workers);
          const stopping = [worker, api].map(async ({ service }) => service.stop());
          await until(async () => begun(otherThan(worker), job) > 0, 60_000);
          held.release();
          assert.deepEqual(await Promise.all(stopping), [0, 0]);
          await Promise.all([worker.start(), api.start()]);
          await ledger.submitAgain();
          await ledger.ended();
          // An expired lease costs an attempt.
          for (const each of jobs) assert.equal(await triesOf(each), 1);
        }
      },
    );

    await context.test("a worker is suspended for longer than its lease", async () => {
      held.hold();
      const job = await ledger.submit(recordings.held);
      const sleeper = await holderOf(job, workers);
      const other = otherThan(sleeper);
      sleeper.service.child.kill("SIGSTOP");
      held.release();

      const submitting = submitAll();
      await apis[0].service.crash();
      await apis[0].start();
      await submitting;

      await submitAll();
      await postgres.kill();
      const more = submitAll();
      await delay(500);
      await postgres.start();
      await more;

      await s3.killObjects();
      const waiting = await ledger.submit(recordings.quick);
      // This is more often than a job may fail.
      await until(async () => begun(other, waiting) > 3, 120_000);
      await s3.startObjects();

      await until(async () => begun(other, job) > 0, 60_000);
      await ledger.ended();
      const before = sleeper.linesOf(idOf(job));
      sleeper.service.child.kill("SIGCONT");
      await until(async () => sleeper.linesOf(idOf(job)) > before, 60_000);
      await submitAll();
      await ledger.submitAgain(4);
      await ledger.ended();
    });

    await context.test("the clocks of nodes jump by an hour", async () => {
      for (const [apiSeconds, workerSeconds] of [
        [hourSeconds, -hourSeconds],
        [-hourSeconds, hourSeconds],
        [0, 0],
      ] as const) {
        held.hold();
        const jobs = await submitAll();
        await until(async () => held.waiting > 0, 60_000);
        apis[0].clock.move(apiSeconds);
        workers[0].clock.move(workerSeconds);
        await submitAll();
        await ledger.submitAgain(4);
        held.release();
        await ledger.ended();
        for (const job of jobs) assert.equal(await triesOf(job), 1);
      }
    });

    await context.test("the clock of the database jumps by an hour", async () => {
      ledger.isDatabaseClockMoved = true;
      for (const seconds of [hourSeconds, 0]) {
        held.hold();
        for (let count = 0; count < manyJobs; count += 1) {
          await ledger.submit(recordings.held);
        }
        await until(async () => held.waiting > 0, 60_000);
        databaseClock.move(seconds);
        await submitAll();
        await ledger.submitAgain(4);
        held.release();
        await ledger.ended();
      }
    });
  });

  await ledger.verify(() => false);
  for (const { service } of nodes) {
    assert.equal(await service.stop(), 0);
    const { out, errors } = service.output();
    assert.doesNotMatch(out + errors, /X-Amz-|testing|token=/);
  }
  const log = createLog("silent");
  await using database = await openDatabase({ url: postgres.url, folder: "", log });
  await using store = await openMediaStore({ dataFolder: "", s3: bucket.settings }, { log });
  const scratchFolders = workers.map(({ dataFolder }) => join(dataFolder, "scratch"));
  await assertTidy({ database, store, scratchFolders });
  await fsckClean(apis[0].dataFolder, { ...media, DATABASE_URL: postgres.url });
});
