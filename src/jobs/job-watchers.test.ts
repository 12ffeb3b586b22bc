import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openCutDatabase } from "../../test/fixtures/open-cut-database.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { forever, openWatchedJobs, type WatchedJobs } from "../../test/fixtures/watched-jobs.ts";
import { databaseTrouble } from "../database/database-trouble.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { NodeWatches, watchesMax } from "../watches/node-watches.ts";
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

test("a watch sends the job immediately and after each change, and ends with the job", async () => {
  const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db));
  const id = await jobs.addJob();
  await jobs.change([id], "progress_percent = 3");
  const [seen, late] = [watchers, watchers].map((each) => each.watch(account, id, forever()));
  assert.ok(seen && late);
  const next = async (from = seen) => {
    const { value } = await from.next();
    return value && [value.state, value.progressPercent, value.transcriptId];
  };
  assert.deepEqual(await next(), ["PROCESSING", 3, null]);
  await jobs.change([id], "progress_percent = 40");
  assert.deepEqual(await next(), ["PROCESSING", 40, null]);
  assert.deepEqual(
    await next(late),
    ["PROCESSING", 40, null],
    "the current state, not an earlier one",
  );
  // This change is not visible to watchers.
  await jobs.change([id], "lease = 7");
  const transcript = newId();
  await jobs.change(
    [id],
    `state = 'SUCCESS', progress_percent = 100, transcript_id = '${transcript}'`,
  );
  for (const each of [seen, late]) {
    assert.deepEqual(await next(each), ["SUCCESS", 100, transcript]);
    assert.deepEqual(await each.next(), { done: true, value: undefined });
  }
  const over = await Array.fromAsync(watchers.watch(account, id, forever()));
  assert.deepEqual(
    over.map(({ state }) => state),
    ["SUCCESS"],
  );
});

test("an unchanged job is sent again, so that proxies do not consider the stream dead", async () => {
  const id = await jobs.addJob();
  const watchers = new JobWatchers(
    jobs.database.db,
    new NodeWatches(jobs.database.db, { repeatMs: 100 }),
  );
  const watch = watchers.watch(account, id, forever());
  const [first, second] = [await watch.next(), await watch.next()];
  assert.equal(first.value?.id, id);
  assert.deepEqual(second, first);
  await watch.return();
});

test("repeated messages and later watchers show the current state of the job", async () => {
  const id = await jobs.addJob();
  const at = (): Date => new Date(Date.now() + 3_600_000);
  const touch = async (time: Date): Promise<void> =>
    await jobs.change([id], `updated_at = '${time.toISOString()}'`);
  const repeating = new JobWatchers(
    jobs.database.db,
    new NodeWatches(jobs.database.db, { repeatMs: 100 }),
  );
  const watch = repeating.watch(account, id, forever());
  await watch.next();
  const again = at();
  await touch(again);
  // Two messages may have been in progress.
  await watch.next();
  await watch.next();
  assert.deepEqual((await watch.next()).value?.updatedAt, again);
  await watch.return();
  const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db));
  const early = watchers.watch(account, id, forever());
  await early.next();
  const later = at();
  await touch(later);
  const late = watchers.watch(account, id, forever());
  assert.deepEqual((await late.next()).value?.updatedAt, later);
  await jobs.change([id], "progress_percent = 5");
  assert.equal((await early.next()).value?.progressPercent, 5, "not for invisible changes");
  await Promise.all([early.return(), late.return()]);
});

test("a watch of a foreign or deleted job fails with NOT_FOUND, and a watcher that leaves is removed", async () => {
  const watchers = new JobWatchers(jobs.database.db, new NodeWatches(jobs.database.db));
  const id = await jobs.addJob();
  const watch = watchers.watch(account, id, forever());
  await watch.next();
  const others = await jobs.addAccount();
  for (const [accountId, jobId] of [
    [others, id],
    [account, newId()],
  ] as const) {
    const error = await refusal(watchers.watch(accountId, jobId, forever()).next());
    assert.deepEqual([error.code, error.reason], ["not_found", "JOB_NOT_FOUND"]);
  }
  const leaving = new AbortController();
  const left = watchers.watch(account, id, leaving.signal);
  await left.next();
  const waiting = left.next();
  leaving.abort(new ServiceError("cancelled", "the client has closed the request"));
  assert.equal((await refusal(waiting)).code, "cancelled");
  await jobs.database.db.deleteFrom("transcript_job").where("id", "=", id).execute();
  assert.equal((await refusal(watch.next())).reason, "JOB_NOT_FOUND");
});

test("a thousand watchers of a thousand jobs take two statements in half a second, one to poll and one to read", async (t) => {
  const { rows } = await jobs.database.pool.query<{ id: string }>(
    `insert into transcript_job (id, account_id, state, metadata)
     select gen_random_uuid(), $1, 'PROCESSING', '{}' from generate_series(1, $2) returning id`,
    [account, watchesMax.account],
  );
  const ids = rows.map(({ id }) => id);
  const watchers = new JobWatchers(jobs.counted, new NodeWatches(jobs.counted));
  const startedAt = performance.now();
  const watches = ids.map((id) => watchers.watch(account, id, forever()));
  const percents = async () => (await Promise.all(watches.map((each) => each.next()))).map(percent);
  assert.deepEqual(new Set(await percents()), new Set([0]));
  const first = jobs.statements();
  assert.ok(first <= 2, `${first} statements`);
  const full = await refusal(watchers.watch(account, ids[0] ?? "", forever()).next());
  assert.deepEqual([full.code, full.reason], ["resource_exhausted", "WATCHES_FULL"]);
  for (let round = 1; round <= 3; round++) {
    await jobs.change(ids, `progress_percent = ${round}`);
    const seen = await percents();
    assert.deepEqual(new Set(seen), new Set([round]));
  }
  const looks = Math.ceil((performance.now() - startedAt) / 500) + 2;
  assert.ok(
    jobs.statements() <= 2 * looks,
    `${jobs.statements()} statements, ${looks} half seconds`,
  );
  t.diagnostic(`${jobs.statements()} statements for ${4 * ids.length} messages`);
  await watches[0]?.return();
  const next = watchers.watch(account, ids[0] ?? "", forever());
  assert.equal(percent(await next.next()), 3, "there is room again");
  await Promise.all([next, ...watches].map((each) => each.return()));
  statementsAtRest = jobs.statements();
});

function percent({ value }: { readonly value?: unknown }): unknown {
  return typeof value === "object" && value && Reflect.get(value, "progressPercent");
}

test("the number of watches of a node is limited, and all watches end when the node stops", async () => {
  const node = new NodeWatches(jobs.database.db);
  const watchers = new JobWatchers(jobs.database.db, node);
  const open: ReturnType<JobWatchers["watch"]>[] = [];
  for (let i = 0; i < watchesMax.node / watchesMax.account; i++) {
    const each = await jobs.addAccount();
    const id = await jobs.addJob(each);
    for (let n = 0; n < watchesMax.account; n++) open.push(watchers.watch(each, id, forever()));
  }
  await Promise.all(open.map((each) => each.next()));
  const id = await jobs.addJob();
  const full = await refusal(watchers.watch(account, id, forever()).next());
  assert.deepEqual([full.code, full.reason], ["resource_exhausted", "WATCHES_FULL"]);
  const ends = open.map((each) => refusal(each.next()));
  node.stop(new ServiceError("unavailable", "the service is stopping"));
  for (const { code } of await Promise.all(ends)) assert.equal(code, "unavailable");
  const late = await refusal(watchers.watch(account, id, forever()).next());
  assert.equal(late.code, "unavailable");
});

test("while the database is unavailable, watches stay open, and new ones fail", async () => {
  await using line = await openCutDatabase(jobs.database);
  const watchers = new JobWatchers(line.db, new NodeWatches(line.db));
  const id = await jobs.addJob();
  const watch = watchers.watch(account, id, forever());
  assert.equal(percent(await watch.next()), 0);
  const next = watch.next();
  await line.cut();
  const error: unknown = await watchers
    .watch(account, id, forever())
    .next()
    .catch((reason: unknown) => reason);
  assert.equal(databaseTrouble(error)?.code, "unavailable", String(error));
  await jobs.change([id], "progress_percent = 50");
  await line.repair();
  assert.equal(percent(await next), 50);
  await watch.return();
});
