import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { openTestDatabase } from "../../test/open-test-database.ts";
import { until } from "../../test/until.ts";
import type { Database } from "../database/database.ts";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { JobWatchers, watchesMax } from "./job-watchers.ts";

let database: Database & { readonly folder: string };
let account = "";
/** Of counted(). */
let statements = 0;
/** When nobody watched by it any more. */
let statementsAtRest = 0;
/** Of a caller that stays; each has its own. */
const forever = (): AbortSignal => new AbortController().signal;

before(async () => {
  database = await openTestDatabase();
  account = await addAccount();
});

after(async () => {
  await database[Symbol.asyncDispose]();
  assert.equal(statements, statementsAtRest, "nothing is looked at when nobody watches");
});

async function addAccount(): Promise<string> {
  const id = newId();
  await database.db.insertInto("account").values({ id, display_name: "test" }).execute();
  return id;
}

async function addJob(accountId = account): Promise<string> {
  const id = newId();
  const row = { id, account_id: accountId, state: "PROCESSING", metadata: "{}" } as const;
  await database.db
    .insertInto("transcript_job")
    .values({
      ...row,
      media_uri: null,
      upload_id: null,
      media_id: null,
      duration_ms: null,
      transcript_id: null,
      error: null,
      idempotency_key: null,
      request_sha256: null,
    })
    .execute();
  return id;
}

async function change(ids: readonly string[], set: string): Promise<void> {
  await database.pool.query(`update transcript_job set ${set} where id = any($1)`, [ids]);
}

/** The test database with its statements counted. */
function counted(): Kysely<Tables> {
  const { pool } = database;
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: () => {
      statements++;
    },
  });
}

async function refusal(promise: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceError, String(error));
  return error;
}

test("a job is told at once, then with each change, and the end of it ends the watch", async () => {
  const watchers = new JobWatchers(database.db);
  const id = await addJob();
  await change([id], "progress_percent = 3");
  const [seen, late] = [watchers, watchers].map((each) => each.watch(account, id, forever()));
  assert.ok(seen && late);
  const told = async (from = seen) => {
    const { value } = await from.next();
    return value && [value.state, value.progressPercent, value.transcriptId];
  };
  assert.deepEqual(await told(), ["PROCESSING", 3, null]);
  await change([id], "progress_percent = 40");
  assert.deepEqual(await told(), ["PROCESSING", 40, null]);
  assert.deepEqual(await told(late), ["PROCESSING", 40, null], "of what is now, not of what was");
  // Nothing that shows.
  await change([id], "lease = 7");
  const transcript = newId();
  await change([id], `state = 'SUCCESS', progress_percent = 100, transcript_id = '${transcript}'`);
  for (const each of [seen, late]) {
    assert.deepEqual(await told(each), ["SUCCESS", 100, transcript]);
    assert.deepEqual(await each.next(), { done: true, value: undefined });
  }
  const over = await Array.fromAsync(watchers.watch(account, id, forever()));
  assert.deepEqual(
    over.map(({ state }) => state),
    ["SUCCESS"],
  );
});

test("what does not change is told again, so that nothing takes the stream for dead", async () => {
  const id = await addJob();
  const watchers = new JobWatchers(database.db, { repeatMs: 100 });
  const watch = watchers.watch(account, id, forever());
  const [first, second] = [await watch.next(), await watch.next()];
  assert.equal(first.value?.id, id);
  assert.deepEqual(second, first);
  await watch.return();
});

test("what is told again, or to one who comes later, is the job as it is now", async () => {
  const id = await addJob();
  const at = (): Date => new Date(Date.now() + 3_600_000);
  const touch = async (time: Date): Promise<void> =>
    await change([id], `updated_at = '${time.toISOString()}'`);
  const repeating = new JobWatchers(database.db, { repeatMs: 100 });
  const watch = repeating.watch(account, id, forever());
  await watch.next();
  const again = at();
  await touch(again);
  // Two may have been on their way.
  await watch.next();
  await watch.next();
  assert.deepEqual((await watch.next()).value?.updatedAt, again);
  await watch.return();
  const watchers = new JobWatchers(database.db);
  const early = watchers.watch(account, id, forever());
  await early.next();
  const later = at();
  await touch(later);
  const late = watchers.watch(account, id, forever());
  assert.deepEqual((await late.next()).value?.updatedAt, later);
  await change([id], "progress_percent = 5");
  assert.equal((await early.next()).value?.progressPercent, 5, "not told what does not show");
  await Promise.all([early.return(), late.return()]);
});

test("what is no job of the account, or is one no more, is not found; who goes is let go", async () => {
  const watchers = new JobWatchers(database.db);
  const id = await addJob();
  const watch = watchers.watch(account, id, forever());
  await watch.next();
  const others = await addAccount();
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
  leaving.abort(new ServiceError("cancelled", "the caller went away"));
  assert.equal((await refusal(waiting)).code, "cancelled");
  await database.db.deleteFrom("transcript_job").where("id", "=", id).execute();
  assert.equal((await refusal(watch.next())).reason, "JOB_NOT_FOUND");
});

test("a thousand watchers of a thousand jobs take two statements in half a second, one that looks and one that reads", async (t) => {
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into transcript_job (id, account_id, state, metadata)
     select gen_random_uuid(), $1, 'PROCESSING', '{}' from generate_series(1, $2) returning id`,
    [account, watchesMax.account],
  );
  const ids = rows.map(({ id }) => id);
  const watchers = new JobWatchers(counted());
  const startedAt = performance.now();
  const watches = ids.map((id) => watchers.watch(account, id, forever()));
  const tell = async () => (await Promise.all(watches.map((each) => each.next()))).map(percent);
  assert.deepEqual(new Set(await tell()), new Set([0]));
  const first = statements;
  assert.ok(first <= 2, `${first} statements`);
  const full = await refusal(watchers.watch(account, ids[0] ?? "", forever()).next());
  assert.deepEqual([full.code, full.reason], ["resource_exhausted", "WATCHES_FULL"]);
  for (let round = 1; round <= 3; round++) {
    await change(ids, `progress_percent = ${round}`);
    const told = await tell();
    assert.deepEqual(new Set(told), new Set([round]));
  }
  const looks = Math.ceil((performance.now() - startedAt) / 500) + 2;
  assert.ok(statements <= 2 * looks, `${statements} statements, ${looks} half seconds`);
  t.diagnostic(`${statements} statements for ${4 * ids.length} messages`);
  await watches[0]?.return();
  const next = watchers.watch(account, ids[0] ?? "", forever());
  assert.equal(percent(await next.next()), 3, "there is room again");
  await Promise.all([next, ...watches].map((each) => each.return()));
  statementsAtRest = statements;
});

function percent({ value }: { readonly value?: unknown }): unknown {
  return typeof value === "object" && value && Reflect.get(value, "progressPercent");
}

test("a node lets all accounts together watch so many, and ends them all when it stops", async () => {
  const stopping = new AbortController();
  const watchers = new JobWatchers(database.db, { stopping: stopping.signal });
  const open: ReturnType<JobWatchers["watch"]>[] = [];
  for (let i = 0; i < watchesMax.node / watchesMax.account; i++) {
    const each = await addAccount();
    const id = await addJob(each);
    for (let n = 0; n < watchesMax.account; n++) open.push(watchers.watch(each, id, forever()));
  }
  await Promise.all(open.map((each) => each.next()));
  const id = await addJob();
  const full = await refusal(watchers.watch(account, id, forever()).next());
  assert.deepEqual([full.code, full.reason], ["resource_exhausted", "WATCHES_FULL"]);
  const ends = open.map((each) => refusal(each.next()));
  stopping.abort(new ServiceError("unavailable", "the service is stopping"));
  for (const { code } of await Promise.all(ends)) assert.equal(code, "unavailable");
  const late = await refusal(watchers.watch(account, id, forever()).next());
  assert.equal(late.code, "unavailable");
});

test("while the database is away, who watches stays, and who comes is told so", async () => {
  const folder = join(database.folder, "away");
  await using line = await openLine(folder);
  const pool = new pg.Pool({ ...database.pool.options, host: folder });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const watchers = new JobWatchers(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }));
  const id = await addJob();
  const watch = watchers.watch(account, id, forever());
  assert.equal(percent(await watch.next()), 0);
  const next = watch.next();
  await line.cut();
  const error: unknown = await watchers
    .watch(account, id, forever())
    .next()
    .catch((reason: unknown) => reason);
  assert.equal(databaseTrouble(error)?.code, "unavailable", String(error));
  await change([id], "progress_percent = 50");
  await line.mend();
  assert.equal(percent(await next), 50);
  await watch.return();
  await pool.end();
});

/** The way to the database, as its socket in another folder: it can be cut. */
async function openLine(
  folder: string,
): Promise<{ cut(): Promise<void>; mend(): Promise<void> } & AsyncDisposable> {
  const { host = "", port = 5432 } = database.pool.options;
  await mkdir(folder);
  const sockets = new Set<Socket>();
  const path = join(folder, `.s.PGSQL.${port}`);
  const listen = async () => {
    const server = createServer((near) => {
      const far = connect(join(host, `.s.PGSQL.${port}`));
      for (const each of [near, far]) {
        sockets.add(each);
        each.on("error", () => {}).on("close", () => sockets.delete(each));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    return server;
  };
  let server = await listen();
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const each of sockets) each.destroy();
    await closed;
    rmSync(path, { force: true });
  };
  return {
    cut,
    async mend() {
      server = await listen();
    },
    [Symbol.asyncDispose]: cut,
  };
}

/** A job with a megabyte of metadata, as an earlier version took it. */
async function addLongJob(accountId: string): Promise<string> {
  const id = await addJob(accountId);
  await change([id], "metadata = jsonb_build_object('subject', repeat('x', 1000000))");
  return id;
}

const heldLimits = { nodeBytesMax: 20e6, reason: "WATCHES_FULL", what: "watched jobs" };

test("what is told and not taken is bounded in bytes, by account and node", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 8.4e6 });
  const watchers = new JobWatchers(database.db, { held });
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
  const other = await addAccount();
  const theirs = watchers.watch(other, await addLongJob(other), forever());
  assert.equal((await theirs.next()).value?.metadata.subject.length, 1e6);
  await Promise.all([theirs, ...watches].map((each) => each.return()));
  assert.equal(held.total, 0);
});

test("what waits for room is the newest when its turn comes", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 2.1e6 });
  const watchers = new JobWatchers(database.db, { held });
  const id = await addLongJob(account);
  const [first, second] = [watchers, watchers].map((each) => each.watch(account, id, forever()));
  assert.ok(first && second);
  await first.next();
  const more = first.next();
  await second.next();
  // The second one has not taken what it was told.
  await change([id], "progress_percent = 5");
  await change([id], "progress_percent = 9");
  await second.return();
  assert.equal((await more).value?.progressPercent, 9);
  await first.return();
  assert.equal(held.total, 0);
});

test("streams that are due or refused at the same moment go on in turns of the event loop", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 4.2e6 });
  for (const id of [await addJob(), await addLongJob(account)]) {
    const watchers = new JobWatchers(database.db, { held });
    const watches = Array.from({ length: 60 }, () => watchers.watch(account, id, forever()));
    const perLoop = [0];
    let isOver = false;
    const count = () => perLoop.push(0) && !isOver && setImmediate(count);
    setImmediate(count);
    const told = watches.map(async (each) => {
      await each.next().catch(() => {});
      perLoop[perLoop.length - 1] = (perLoop.at(-1) ?? 0) + 1;
      // What a stream does with it.
      for (const end = performance.now() + 2; performance.now() < end;);
    });
    await Promise.all(told);
    isOver = true;
    await Promise.all(watches.map((each) => each.return()));
    const most = Math.max(...perLoop);
    assert.ok(most <= 12, `${most} of 60 streams of 2 ms in one turn of the event loop`);
  }
});

test("behind a hundred messages that wait for room a stream is refused, and nothing is read for it", async () => {
  const held = new HeldBytes({ ...heldLimits, accountBytesMax: 2.1e6 });
  const watchers = new JobWatchers(counted(), { held });
  const [unread, id] = [await addLongJob(account), await addJob()];
  const watch = (job: string) => watchers.watch(account, job, forever());
  const waiting = [watch(unread), ...Array.from({ length: 100 }, () => watch(id))];
  for (const each of waiting) await each.next();
  const settled = waiting.slice(1).map((each) => refusal(each.next()));
  const metadata = "jsonb_build_object('subject', repeat('x', 1000000))";
  await change([id], `progress_percent = 5, metadata = ${metadata}`);
  const problem = async () => (await refusal(watch(id).next())).message;
  await until(async () => (await problem()).startsWith("100 messages"));
  const before = statements;
  const { reason, retryAfterMs } = await refusal(watch(newId()).next());
  assert.deepEqual([reason, retryAfterMs, statements], ["WATCHES_FULL", 1_000, before]);
  await database.db.deleteFrom("transcript_job").where("id", "=", id).execute();
  await waiting[0]?.return();
  for (const { code } of await Promise.all(settled)) assert.equal(code, "not_found");
  statementsAtRest = statements;
});
