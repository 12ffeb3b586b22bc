import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import {
  jobRequest,
  openJobs,
  testAccountJobsMax,
  type JobsFixture,
} from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { leaseJobs, releaseJob, type LeasedJob } from "./worker/lease-jobs.ts";

type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

let database: TestDatabase;
let jobs: JobsFixture;

before(async () => {
  database = await openTestDatabase();
  jobs = await openJobs(database, join(database.folder, "jobs"));
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await database.pool.query("delete from transcript_job");
});

async function submit(accountId: string): Promise<string> {
  const name = await jobs.submit(accountId, jobRequest("http://127.0.0.1:1/a.wav"));
  return name.split("/")[1] ?? "";
}

/** Leases the next job, as a worker does. */
async function take(passedOver: readonly string[] = []): Promise<LeasedJob> {
  return (await next(passedOver)) ?? assert.fail();
}

async function next(passedOver: readonly string[]): Promise<LeasedJob | undefined> {
  const [job] = await leaseJobs(database.db, { passedOver, countMax: 1 });
  return job;
}

async function end({ lease }: LeasedJob): Promise<void> {
  await database.db.deleteFrom("transcript_job").where("id", "=", lease.id).execute();
}

/**
 * Inserts jobs in one statement, with the turns that the service would give them one after the
 * other.
 */
async function flood(accountId: string, count: number): Promise<void> {
  await database.pool.query(
    `insert into transcript_job (id, account_id, state, priority, metadata)
     select gen_random_uuid(), $1, 'PROCESSING', 1 - n, '{}' from generate_series(1, $2::int) n`,
    [accountId, count],
  );
}

/** Returns the accounts of the next jobs, by their letters. */
async function accountsOf(count: number, letters: Record<string, string>): Promise<string> {
  let order = "";
  for (let i = 0; i < count; i++) order += letters[(await take()).accountId];
  return order;
}

test("a single job is among the next two, however late it is submitted in a flood of 10,000", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  await flood(many, 10_000);
  const letters = { [many]: "a", [few]: "b" };
  for (const taken of [0, 3, 40]) {
    await accountsOf(taken, letters);
    await submit(few);
    const order = await accountsOf(2, letters);
    assert.match(order, /b/, `after ${taken}: ${order}`);
  }
  await submit(few);
  assert.equal((await take([many])).accountId, few, "a worker may pass the flood over");
  assert.equal(await next([many]), undefined);
});

test("a worker that skips a flood leases the jobs behind it in order", async () => {
  const [many, ...others] = [
    await jobs.addAccount(),
    await jobs.addAccount(),
    await jobs.addAccount(),
  ];
  await flood(many, 3_000);
  const [first, second] = [await submit(others[0] ?? ""), await submit(others[1] ?? "")];
  // The jobs of the flood were leased and released before, and have the better turns.
  await database.pool.query("update transcript_job set lease = 2 where account_id = $1", [many]);
  await database.pool.query("update transcript_job set priority = -2500 where id = $1", [first]);
  await database.pool.query("update transcript_job set priority = -2400 where id = $1", [second]);
  const leased = await leaseJobs(database.db, { passedOver: [many], countMax: 8 });
  assert.deepEqual(
    leased.map(({ lease }) => lease.id),
    [second, first],
  );
  assert.equal(await next([many]), undefined);
});

test("a job comes before a flood of jobs that have all been leased before", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  await flood(many, 3_000);
  await database.pool.query("update transcript_job set lease = 2");
  const single = await submit(few);
  const leased = await leaseJobs(database.db, { passedOver: [], countMax: 1_100 });
  assert.ok(leased.some(({ lease }) => lease.id === single));
});

test("three accounts take turns, in whatever order their jobs arrive", async () => {
  const [a, b, c] = [await jobs.addAccount(), await jobs.addAccount(), await jobs.addAccount()];
  const letters = { [a]: "a", [b]: "b", [c]: "c" };
  for (let i = 0; i < 12; i++) await submit(a);
  for (let i = 0; i < 6; i++) await submit(b);
  await accountsOf(3, letters);
  for (let i = 0; i < 4; i++) await submit(c);
  const order = await accountsOf(12, letters);
  for (const [letter, count] of [
    ["a", 4],
    ["b", 4],
    ["c", 4],
  ] as const) {
    const turns = order.split(letter).length - 1;
    assert.ok(Math.abs(turns - count) <= 1, `${letter} has ${turns} turns of ${order}`);
  }
});

test("an account that has had its turns does not wait behind a flood that begins while no job is waiting", async () => {
  const [early, late] = [await jobs.addAccount(), await jobs.addAccount()];
  const letters = { [early]: "a", [late]: "b" };
  for (let i = 0; i < 30; i++) await submit(early);
  const taken: LeasedJob[] = [];
  for (let i = 0; i < 30; i++) taken.push(await take());
  for (const job of taken.slice(0, 29)) await end(job);
  for (let i = 0; i < 30; i++) await submit(late);
  await submit(early);
  const order = await accountsOf(3, letters);
  assert.match(order, /a/, order);
});

test("a job that is released or attempted again keeps its turn, and does not delay other jobs while it waits", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  for (let i = 0; i < 5; i++) await submit(many);
  const { db } = database;
  const { lease } = await take();
  assert.ok(await releaseJob(db, lease, { isForgiven: true }));
  const again = await take();
  assert.deepEqual([again.lease, again.attempts], [{ ...lease, number: 3 }, 1]);
  assert.ok(await releaseJob(db, again.lease, { afterMs: 3_600_000, isForgiven: false }));
  assert.notEqual((await take()).lease.id, lease.id);
  const single = await submit(few);
  const taken = [await take(), await take()].map((job) => job.lease.id);
  assert.ok(taken.includes(single));
  await database.pool.query("update transcript_job set due_at = now() where id = $1", [lease.id]);
  assert.equal((await take()).lease.id, lease.id, "before all that came after it");
});

test("an account's limit of unfinished jobs holds for concurrent submissions", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  await flood(many, testAccountJobsMax - 5);
  const results = await Promise.allSettled(Array.from({ length: 12 }, () => submit(many)));
  const refused = results.filter(({ status }) => status === "rejected");
  assert.equal(refused.length, 7);
  const { code, reason, retryAfterMs, metadata } = await refusal(submit(many));
  assert.equal(code, "resource_exhausted");
  assert.equal(reason, "TOO_MANY_JOBS");
  assert.ok(retryAfterMs);
  assert.deepEqual(metadata, {
    limit: "queuedJobs",
    value: `${testAccountJobsMax}`,
    of: "account",
  });
  const { rows } = await database.pool.query("select id from transcript_job");
  assert.equal(rows.length, testAccountJobsMax, "what was refused has left nothing");
  await submit(few);
  await end(await take([few]));
  await submit(many);
  assert.equal((await refusal(submit(many))).reason, "TOO_MANY_JOBS");
});

/** Leases `count` jobs and ends them. Returns their names in order. */
async function serve(count: number): Promise<string[]> {
  const names: string[] = [];
  for (let i = 0; i < count; i++) {
    const { lease } = await take();
    names.push(`transcriptjob/${lease.id}`);
    await database.db
      .updateTable("transcript_job")
      .set({ state: "SUCCESS" })
      .where("id", "=", lease.id)
      .execute();
  }
  return names;
}

async function submitMany(accountId: string, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let i = 0; i < count; i++)
    names.push(await jobs.submit(accountId, jobRequest("http://127.0.0.1:1/a.wav")));
  return names;
}

test("a waiting account comes next, regardless of the jobs that another one has waiting", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  const flood = await submitMany(many, 40);
  const first = await serve(5);
  const [single = ""] = await submitMany(few, 1);
  const late = await submitMany(many, 1);
  const two = await serve(2);
  assert.ok(two.includes(single), "the single job is among the next two");
  const order = [...first, ...two, ...(await serve(35))];
  assert.deepEqual(
    order.filter((name) => name !== single),
    [...flood, ...late],
    "the jobs of one account keep their order",
  );
  assert.equal(await next([]), undefined);
});

test("accounts with many waiting jobs take turns, in whatever order the jobs arrive", async () => {
  const [early, late] = [await jobs.addAccount(), await jobs.addAccount()];
  const flood = await submitMany(early, 20);
  await serve(10);
  await submitMany(late, 10);
  const next = await serve(10);
  const turns = next.filter((name) => flood.includes(name)).length;
  assert.ok(turns >= 4 && turns <= 6, `${turns} of 10`);
});
