import assert from "node:assert/strict";
import { attemptsMax } from "../../database/lease.ts";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { jobRequest, openJobs, type JobsFixture } from "../../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../../test/fixtures/open-test-database.ts";
import { failJob } from "./end-jobs.ts";
import {
  countLastAttempt,
  extendJob,
  isLastAttempt,
  leaseJobs,
  releaseJob,
  resetAttempts,
  takeAttemptBack,
  type LeasedJob,
} from "./lease-jobs.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let jobs: JobsFixture;
let account = "";

before(async () => {
  database = await openTestDatabase();
  jobs = await openJobs(database, join(database.folder, "jobs"));
  account = await jobs.addAccount();
});
after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await database.pool.query("delete from transcript_job");
});

async function submit(): Promise<string> {
  const name = await jobs.submit(account, jobRequest("http://127.0.0.1:1/a.wav"));
  return name.split("/")[1] ?? "";
}

async function lease(countMax = 8): Promise<LeasedJob[]> {
  return await leaseJobs(database.db, { passedOver: [], countMax });
}

async function leaseOne(): Promise<LeasedJob> {
  const [job] = await lease(1);
  return job ?? assert.fail("no job is due");
}

/** Shifts the due times of all jobs, as if the clock of the database were set back. */
async function shiftDue(interval: string): Promise<void> {
  await database.pool.query("update transcript_job set due_at = due_at + $1::interval", [interval]);
}

async function attemptsOf(id: string): Promise<number> {
  const job = database.db.selectFrom("transcript_job").select("tries").where("id", "=", id);
  return (await job.executeTakeFirstOrThrow()).tries;
}

test("workers that lease concurrently share the jobs, and each job is leased by one of them", async () => {
  const ids = await Promise.all(Array.from({ length: 24 }, submit));
  const leased = await Promise.all(Array.from({ length: 8 }, () => lease(4)));
  const got = leased.flat().map((job) => job.lease.id);
  assert.equal(new Set(got).size, got.length);
  const rest = (await lease(24)).map((job) => job.lease.id);
  assert.deepEqual([...got, ...rest].toSorted(), ids.toSorted());
});

test("a lease that is not extended in time is lost to the next worker, and a lease that is extended is not", async () => {
  const id = await submit();
  const first = await leaseOne();
  assert.deepEqual(first.lease, { id, number: 1 });
  assert.deepEqual(await lease(), []);
  await shiftDue("-9 seconds");
  assert.ok(await extendJob(database.db, first.lease));
  await shiftDue("-9 seconds");
  assert.deepEqual(await lease(), []);
  await shiftDue("-1 second");
  const second = await leaseOne();
  assert.deepEqual([second.lease, second.attempts], [{ id, number: 2 }, 2]);
  assert.equal(await extendJob(database.db, first.lease), false);
  assert.equal(await releaseJob(database.db, first.lease, { isForgiven: true }), false);
  const error = { code: 13, message: "a test" };
  const end = (job: LeasedJob) =>
    database.db.transaction().execute(async (trx) => await failJob(trx, job.lease, error));
  assert.equal(await end(first), false);
  assert.equal(await end(second), true);
});

test("no job waits for a database clock that was set back, neither for a lease nor for a delay", async () => {
  const { db } = database;
  const waiting = await submit();
  await shiftDue("1 hour");
  const first = await leaseOne();
  assert.equal(first.lease.id, waiting);
  await shiftDue("1 hour");
  const second = await leaseOne();
  assert.deepEqual(second.lease, { id: waiting, number: 2 });
  assert.ok(await releaseJob(db, second.lease, { afterMs: 3_600_000, isForgiven: true }));
  assert.deepEqual(await lease(), [], "a delay is a minute at most, and counts as long");
  await shiftDue("1 minute");
  assert.equal((await leaseOne()).lease.id, waiting);
});

test("a release that is repeated after a lost response changes nothing", async () => {
  const id = await submit();
  const first = await leaseOne();
  assert.ok(await releaseJob(database.db, first.lease, { isForgiven: true }));
  assert.equal(await releaseJob(database.db, first.lease, { isForgiven: true }), false);
  assert.equal(await extendJob(database.db, first.lease), false);
  assert.equal(await attemptsOf(id), 0);
  assert.equal((await leaseOne()).attempts, 1);
});

test("the last attempt counts only once it has begun, and then the job is leased only to be ended", async () => {
  const id = await submit();
  const attempts: number[] = [];
  for (let number = 1; number < attemptsMax; number++) {
    attempts.push((await leaseOne()).attempts);
    await shiftDue("-10 seconds");
  }
  assert.deepEqual(attempts, [1, 2]);
  for (const when of ["first", "again, as its worker died before it had begun"]) {
    const last = await leaseOne();
    assert.ok(isLastAttempt(last), when);
    assert.equal(await attemptsOf(id), attemptsMax - 1, when);
    await shiftDue("-10 seconds");
  }
  const last = await leaseOne();
  for (let i = 0; i < 2; i++) await countLastAttempt(database.db, last.lease);
  assert.equal(await attemptsOf(id), attemptsMax);
  await shiftDue("-10 seconds");
  const past = await leaseOne();
  assert.equal(past.attempts, attemptsMax + 1);
  assert.equal(isLastAttempt(past), false);
  assert.equal(await attemptsOf(id), attemptsMax + 1);
});

test("an attempt that is subtracted after the next lease stays subtracted when the next attempt counts", async () => {
  const id = await submit();
  for (let number = 1; number < attemptsMax; number++) {
    await leaseOne();
    await shiftDue("-10 seconds");
  }
  const last = await leaseOne();
  await takeAttemptBack(database.db, id);
  assert.equal(await countLastAttempt(database.db, last.lease), attemptsMax - 1);
  assert.equal(await attemptsOf(id), attemptsMax - 1);
});

test("attempts are reset only once for each job", async () => {
  const id = await submit();
  await database.pool.query("update transcript_job set tries = 2");
  const first = await leaseOne();
  await countLastAttempt(database.db, first.lease);
  await resetAttempts(database.db, first.lease);
  assert.equal(await attemptsOf(id), 1);
  await database.pool.query("update transcript_job set tries = 3");
  await resetAttempts(database.db, first.lease);
  assert.equal(await attemptsOf(id), 3);
});

test("progress is written with the extension of a lease, and never falls", async () => {
  const id = await submit();
  const { lease: held } = await leaseOne();
  const percents: (number | undefined)[] = [];
  for (const percent of [12.9, undefined, 7, 100]) {
    assert.ok(await extendJob(database.db, held, percent));
    percents.push((await jobs.get(account, `transcriptjob/${id}`)).progressPercent);
  }
  assert.deepEqual(percents, [12, 12, 12, 99]);
});
