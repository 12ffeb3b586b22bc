// The memory and main-thread time that watches use on a node, and refusals beyond the limits.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import { forever, openWatchedJobs, type WatchedJobs } from "../../test/fixtures/watched-jobs.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { NodeWatches } from "../watches/node-watches.ts";
import { JobWatchers } from "./job-watchers.ts";

let jobs: WatchedJobs;
let account = "";
/** The number of statements executed by the time nothing is watched any more. */
let statementsAtRest = 0;

before(async () => {
  jobs = await openWatchedJobs();
  ({ account } = jobs);
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  assert.equal(jobs.statements(), statementsAtRest, "nothing is polled when nothing is watched");
});

/** Adds a job with a megabyte of metadata, which an earlier version accepted. */
async function addLongJob(accountId: string): Promise<string> {
  const id = await jobs.addJob(accountId);
  await jobs.change([id], "metadata = jsonb_build_object('subject', repeat('x', 1000000))");
  return id;
}

const heldLimits = {
  nodeBytesMax: 20e6,
  reason: "WATCHES_FULL",
  what: "watched jobs and transcripts",
};

test("unread messages are limited in bytes per account and per node", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 8.4e6 });
  const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db, { held }));
  const id = await addLongJob(account);
  const watches = Array.from({ length: 10 }, () => watchers.watch(account, id, forever()));
  const results = await Promise.allSettled(watches.map((each) => each.next()));
  const refusals = results.filter((result) => result.status === "rejected");
  assert.equal(refusals.length, 6, "two megabytes each");
  for (const { reason } of refusals) {
    assert.ok(reason instanceof ServiceError);
    assert.deepEqual([reason.code, reason.reason], ["resource_exhausted", "WATCHES_FULL"]);
    assert.ok(reason.retryAfterMs !== undefined);
  }
  assert.ok(held.total <= 8.4e6);
  const other = await jobs.addAccount();
  const theirs = watchers.watch(other, await addLongJob(other), forever());
  assert.equal((await theirs.next()).value?.metadata.subject.length, 1e6);
  await Promise.all([theirs, ...watches].map((each) => each.return()));
  assert.equal(held.total, 0);
});

test("a watcher with a message that waits for memory gets the newest state of the job", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 2.1e6 });
  const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db, { held }));
  const id = await addLongJob(account);
  const [first, second] = [watchers, watchers].map((each) => each.watch(account, id, forever()));
  assert.ok(first && second);
  await first.next();
  const more = first.next();
  await second.next();
  // The second watcher has not read its message.
  await jobs.change([id], "progress_percent = 5");
  await jobs.change([id], "progress_percent = 9");
  await second.return();
  assert.equal((await more).value?.progressPercent, 9);
  await first.return();
  assert.equal(held.total, 0);
});

test("streams that are due or refused at the same moment share the event loop", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 4.2e6 });
  for (const id of [await jobs.addJob(), await addLongJob(account)]) {
    const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db, { held }));
    const watches = Array.from({ length: 60 }, () => watchers.watch(account, id, forever()));
    let [now, most, isOver] = [0, 0, false];
    const nextTurn = () => {
      now = 0;
      if (!isOver) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    const sent = watches.map(async (each) => {
      await each.next().catch(() => {});
      most = Math.max(most, ++now);
      // This simulates the work of a stream on its job.
      for (const end = performance.now() + 2; performance.now() < end;);
    });
    await Promise.all(sent);
    isOver = true;
    await Promise.all(watches.map((each) => each.return()));
    assert.ok(most <= 12, `${most} of 60 streams of 2 ms in one turn of the event loop`);
  }
});

test("with a hundred messages waiting for room a new stream is refused before any read for it", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 2.1e6 });
  const watchers = new JobWatchers(jobs.counted, new NodeWatches(jobs.counted, { held }));
  const [unread, id] = [await addLongJob(account), await jobs.addJob()];
  const watch = (job: string) => watchers.watch(account, job, forever());
  const waiting = [watch(unread), ...Array.from({ length: 100 }, () => watch(id))];
  for (const each of waiting) await each.next();
  const settled = waiting.slice(1).map((each) => refusal(each.next()));
  const metadata = "jsonb_build_object('subject', repeat('x', 1000000))";
  await jobs.change([id], `progress_percent = 5, metadata = ${metadata}`);
  const problem = async () => (await refusal(watch(id).next())).message;
  await until(async () => (await problem()).startsWith("100 messages"));
  const before = jobs.statements();
  const { reason, retryAfterMs } = await refusal(watch(newId()).next());
  assert.deepEqual([reason, retryAfterMs, jobs.statements()], ["WATCHES_FULL", 1_000, before]);
  await jobs.database.db.deleteFrom("transcript_job").where("id", "=", id).execute();
  await waiting[0]?.return();
  for (const { code } of await Promise.all(settled)) assert.equal(code, "not_found");
  statementsAtRest = jobs.statements();
});
