import assert from "node:assert/strict";
import { test } from "node:test";
import { RunningJobs, type RunningJob } from "./running-jobs.ts";

let count = 0;

class TestJob implements RunningJob {
  readonly id = String(++count).padStart(6, "0");
  readonly accountId: string;
  readonly hasMedia: boolean;
  isSmall: boolean | undefined = false;
  hasBegun = false;
  isLeaving = false;

  constructor(accountId: string, hasMedia = true) {
    this.accountId = accountId;
    this.hasMedia = hasMedia;
  }

  leave(): void {
    this.isLeaving = true;
  }
}

/**
 * A worker that leases 4 jobs by turn and 8 more, with the waiting jobs. Jobs that are asked to
 * leave do so immediately.
 */
class TestWorker {
  readonly jobs = new RunningJobs(4);
  readonly running: TestJob[] = [];
  readonly waiting: TestJob[];
  left = 0;

  constructor(waiting: readonly string[]) {
    this.waiting = waiting.map((accountId) => new TestJob(accountId));
  }

  /** Leases all jobs that the worker may lease, in order. */
  fill(): this {
    for (;;) {
      const passedOver = this.jobs.passedOver();
      const at = this.waiting.findIndex(
        ({ accountId }) => passedOver?.includes(accountId) === false,
      );
      const [job] = at < 0 ? [] : this.waiting.splice(at, 1);
      if (!job) return this;
      this.running.push(job);
      this.jobs.add(job);
      for (const leaver of this.running.filter(({ isLeaving }) => isLeaving)) this.#leave(leaver);
    }
  }

  end(accountId: string): this {
    const job = this.running.find((each) => each.accountId === accountId);
    assert.ok(job);
    this.running.splice(this.running.indexOf(job), 1);
    this.jobs.remove(job);
    return this;
  }

  counts(): string {
    const counts = Object.groupBy(this.running, ({ accountId }) => accountId);
    return Object.entries(counts)
      .map(([accountId, jobs = []]) => `${accountId}${jobs.length}`)
      .toSorted()
      .join(" ");
  }

  #leave(job: TestJob): void {
    this.running.splice(this.running.indexOf(job), 1);
    this.jobs.remove(job);
    job.isLeaving = false;
    // The job's turn is before those of all waiting jobs.
    this.waiting.unshift(job);
    this.left++;
  }
}

test("`RunningJobs` leases one job of each other account in addition to the jobs of a flood", () => {
  const flood = Array.from({ length: 20 }, () => "a");
  const worker = new TestWorker(flood).fill();
  assert.equal(worker.counts(), "a4");
  worker.waiting.push(...Array.from("bbcdbb", (accountId) => new TestJob(accountId)));
  assert.equal(worker.fill().counts(), "a4 b1 c1 d1");
  assert.equal(worker.end("b").fill().counts(), "a4 b1 c1 d1", "the next of b comes at once");
  assert.equal(worker.end("a").fill().counts(), "a3 b1 c1 d1", "places of all fill up first");
  assert.equal(worker.left, 0);
});

test("`RunningJobs` releases the youngest job of the account with the most jobs if all places are taken", () => {
  const worker = new TestWorker(Array.from("aaaaaabcdefghi")).fill();
  assert.equal(worker.counts(), "a4 b1 c1 d1 e1 f1 g1 h1 i1");
  assert.equal(worker.left, 0);
  const [, , , youngest] = worker.running;
  worker.waiting.push(new TestJob("j"));
  assert.equal(worker.fill().counts(), "a3 b1 c1 d1 e1 f1 g1 h1 i1 j1");
  assert.equal(worker.waiting[0], youngest);
  worker.waiting.push(...Array.from("klmb", (accountId) => new TestJob(accountId)));
  assert.equal(worker.fill().counts(), "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1");
  assert.equal(worker.left, 3);
  assert.equal(worker.end("j").fill().counts(), "a1 b1 c1 d1 e1 f1 g1 h1 i1 k1 l1 m1");
  assert.equal(worker.end("m").fill().counts(), "a1 b1 c1 d1 e1 f1 g1 h1 i1 k1 l1");
  assert.equal(worker.left, 3, "released jobs are not leased only to be released again");
});

test("`RunningJobs` keeps a job that is fetching its media if another job can be released", () => {
  const jobs = new RunningJobs(4);
  const fetched = [
    new TestJob("a"),
    new TestJob("a"),
    new TestJob("a", false),
    new TestJob("a", false),
  ];
  const others = Array.from("bcdefghij", (accountId) => new TestJob(accountId));
  for (const job of [...fetched, ...others]) jobs.add(job);
  assert.deepEqual(
    fetched.map(({ isLeaving }) => isLeaving),
    [false, true, false, false],
  );
  assert.equal(jobs.passedOver(), undefined, "one at a time");
});

test("`RunningJobs` leases no more jobs when all places belong to different accounts", () => {
  const worker = new TestWorker(Array.from("abcdefghijklm")).fill();
  assert.equal(worker.counts(), "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1");
  assert.equal(worker.left, 0);
});

test("`RunningJobs` isolates a job until it shares the worker again or ends", async () => {
  const jobs = new RunningJobs(4);
  const [suspect, ...others] = [new TestJob("a"), new TestJob("a"), new TestJob("b")];
  for (const job of [suspect, ...others]) jobs.add(job);
  const isolated = jobs.isolate(suspect);
  let isDone = false;
  void isolated.then(() => (isDone = true));
  assert.ok(others.every(({ isLeaving }) => isLeaving));
  assert.equal(jobs.passedOver(), undefined);
  for (const other of others) {
    await new Promise(setImmediate);
    assert.equal(isDone, false);
    jobs.remove(other);
  }
  await isolated;
  assert.equal(suspect.isLeaving, false);
  assert.equal(jobs.passedOver(), undefined);
  const changed = jobs.change(60_000);
  jobs.share(suspect);
  await changed;
  assert.deepEqual(jobs.passedOver(), []);
  await jobs.isolate(suspect);
  jobs.remove(suspect);
  assert.deepEqual(jobs.passedOver(), []);
});

test("`RunningJobs` leases small jobs without using a place, and after eight in a row leases many at once", () => {
  const jobs = new RunningJobs(4);
  const add = (isSmall?: boolean): TestJob => {
    const job = new TestJob("a");
    job.isSmall = isSmall;
    jobs.add(job);
    if (isSmall !== undefined) jobs.sized(job);
    return job;
  };
  const first = Array.from({ length: 4 }, () => add());
  assert.equal(jobs.room(), 0, "their size is unknown yet");
  for (const job of first) {
    job.isSmall = true;
    jobs.sized(job);
  }
  assert.equal(jobs.room(), 4);
  const small = Array.from({ length: 4 }, () => add(true));
  assert.equal(jobs.room(), 12);
  const next = Array.from({ length: 24 }, () => add());
  assert.equal(jobs.room(), 0, "32 in all");
  assert.equal(jobs.passedOver(), undefined);
  const [one, ...others] = first;
  if (one) jobs.remove(one);
  assert.equal(jobs.room(), 0, "one by one they would cost more");
  for (const job of [...others, ...small, ...next.splice(0, 4)]) jobs.remove(job);
  assert.equal(jobs.room(), 12);
  for (const job of next) {
    job.isSmall = false;
    jobs.sized(job);
  }
  assert.equal(next.filter(({ isLeaving }) => isLeaving).length, 8, "8 are too many");
  for (const job of next.filter(({ isLeaving }) => isLeaving)) jobs.remove(job);
  assert.equal(jobs.room(), 0, "long ones need places");
});

test("`RunningJobs` leases jobs of other accounts in addition to many jobs that were expected to be small but stall", async () => {
  const jobs = new RunningJobs(4);
  const add = (accountId: string, isSmall?: boolean): TestJob => {
    const job = new TestJob(accountId, isSmall !== undefined);
    job.isSmall = isSmall;
    jobs.add(job);
    if (isSmall !== undefined) jobs.sized(job);
    return job;
  };
  for (const job of Array.from({ length: 8 }, () => add("a", true))) jobs.remove(job);
  // The media of these jobs is slow to arrive.
  const slow = Array.from({ length: 24 }, () => add("a"));
  assert.equal(jobs.passedOver(), undefined, "they may end in a moment");
  await jobs.change(1);
  assert.deepEqual(jobs.passedOver(), ["a"]);
  const other = add("b");
  assert.equal(slow.filter(({ isLeaving }) => isLeaving).length, 1);
  assert.equal(other.isLeaving, false);
});

test("`RunningJobs` counts the engines that no job is going to use, and releases jobs by their ids", () => {
  const jobs = new RunningJobs(4);
  assert.equal(jobs.spare(2), 2);
  const all = Array.from("aabb", (accountId) => new TestJob(accountId));
  const [begun, ...others] = all;
  for (const job of all) jobs.add(job);
  assert.equal(jobs.spare(5), 1);
  assert.equal(jobs.spare(4), 0);
  assert.equal(jobs.spare(0), 0, "more jobs wait than engines are free");
  if (begun) begun.hasBegun = true;
  assert.equal(jobs.spare(4), 1, "an engine that it has is not free, and it waits for no other");
  jobs.release(others.slice(0, 2).map(({ id }) => id));
  assert.deepEqual(
    all.map(({ isLeaving }) => isLeaving),
    [false, true, true, false],
  );
  assert.equal(jobs.spare(4), 3, "a job that leaves uses none");
});
