import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../test/fixtures/until.ts";
import { openWatchedJobs, type WatchedJobs } from "../../test/fixtures/watched-jobs.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { ChangeFeed, sweepChanges, type FeedReader } from "./change-feed.ts";

let jobs: WatchedJobs;
before(async () => {
  jobs = await openWatchedJobs();
});
after(() => jobs[Symbol.asyncDispose]());

/** A reader that keeps what it receives. */
class KeepingReader implements FeedReader, Disposable {
  readonly kind;
  /** The ids of changed resources, in the order of the polls. */
  readonly seen: string[] = [];
  readonly errors: unknown[] = [];
  readonly #accounts: Set<string>;
  failsOnce = false;

  constructor(kind: FeedReader["kind"], ...accounts: string[]) {
    this.kind = kind;
    this.#accounts = new Set(accounts);
  }

  accounts(): Iterable<string> {
    return this.#accounts;
  }

  changed(changes: ReadonlyMap<string, readonly string[]>): Promise<void> {
    if (this.failsOnce) {
      this.failsOnce = false;
      return Promise.reject(new Error("Connection terminated"));
    }
    this.seen.push(...[...changes.values()].flat());
    return Promise.resolve();
  }

  failed(error: unknown): void {
    this.errors.push(error);
  }

  /** Ends the polls of the feed. */
  [Symbol.dispose](): void {
    this.#accounts.clear();
  }
}

async function openReader(kind: FeedReader["kind"], ...accounts: string[]): Promise<KeepingReader> {
  const reader = new KeepingReader(kind, ...accounts);
  const feed = new ChangeFeed(jobs.database.db);
  feed.add(reader);
  await feed.begin();
  return reader;
}

async function hasSeen(reader: KeepingReader, count: number): Promise<void> {
  await until(() => Promise.resolve(reader.seen.length >= count));
  assert.equal(reader.seen.length, count);
}

test("a feed reports each change of its kind and of its accounts once", async () => {
  const [account, other] = [await jobs.addAccount(), await jobs.addAccount()];
  using reader = await openReader("job", account);
  using ofTranscripts = await openReader("transcript", account);
  const id = await jobs.addJob(account);
  await jobs.addJob(other);
  await hasSeen(reader, 1);
  // Only changes of the state and the progress are recorded.
  await jobs.change([id], "lease = 3, tries = 1");
  await jobs.change([id], "progress_percent = progress_percent");
  await jobs.change([id], "progress_percent = 7");
  await hasSeen(reader, 2);
  assert.deepEqual(reader.seen, [id, id]);
  assert.deepEqual(ofTranscripts.seen, []);
});

test("a feed reports transcripts that are created, changed, described or deleted", async () => {
  const account = await jobs.addAccount();
  using reader = await openReader("transcript", account);
  const { pool } = jobs.database;
  const [id, media] = [newId(), newId()];
  await pool.query(
    `insert into media (id, account_id, size_bytes, content_type) values ($1, $2, 1, 'audio/wav')`,
    [media, account],
  );
  await pool.query(
    `insert into transcript (id, account_id, version_id, metadata, subject, keywords, media_id)
     values ($1, $2, gen_random_uuid(), '{}', '', '{}', $3)`,
    [id, account, media],
  );
  await hasSeen(reader, 1);
  let count = 1;
  for (const statement of [
    `update transcript set version_id = gen_random_uuid() where id = '${id}'`,
    `update media set duration_ms = 5, described_at = now() where id = '${media}'`,
    `delete from transcript where id = '${id}'`,
  ]) {
    await pool.query(statement);
    count++;
    await hasSeen(reader, count);
  }
  assert.deepEqual(reader.seen, [id, id, id, id]);
});

test("changes are reported again if their reader has failed because of the database", async () => {
  const account = await jobs.addAccount();
  using reader = await openReader("job", account);
  reader.failsOnce = true;
  const id = await jobs.addJob(account);
  await hasSeen(reader, 1);
  assert.deepEqual([reader.seen, reader.errors], [[id], []]);
});

test("a feed reports 20,000 changes, and more of them at once as an error", async () => {
  const account = await jobs.addAccount();
  using reader = await openReader("job", account);
  const change = async (count: number) =>
    await jobs.database.pool.query(
      `insert into resource_change (kind, account_id, resource_id)
       select 'job', $1, gen_random_uuid() from generate_series(1, $2)`,
      [account, count],
    );
  await change(20_000);
  await hasSeen(reader, 20_000);
  assert.equal(reader.errors.length, 0);
  await change(20_001);
  await until(() => Promise.resolve(reader.errors.length > 0));
  const [error] = reader.errors;
  assert.ok(error instanceof ServiceError);
  assert.deepEqual([error.code, error.reason], ["unavailable", "CHANGES_MISSED"]);
  assert.equal(reader.seen.length, 20_000);
});

test("records are deleted after ten minutes, and those of a restored database are not reported", async () => {
  const { db, pool } = jobs.database;
  const account = await jobs.addAccount();
  using reader = await openReader("job", account);
  // The server has not begun this transaction yet.
  await pool.query(
    `insert into resource_change (written_by, kind, account_id, resource_id, at)
     values ('1000000000', 'job', $1, $2, now() - interval '11 minutes')`,
    [account, newId()],
  );
  const id = await jobs.addJob(account);
  await hasSeen(reader, 1);
  assert.deepEqual(reader.seen, [id]);
  const records = db.selectFrom("resource_change").where("account_id", "=", account).selectAll();
  await until(async () => {
    await sweepChanges(db);
    return (await records.execute()).length === 1;
  });
});
