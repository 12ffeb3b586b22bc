// Tests the migration that moves the jobs from pg-boss.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  openClient,
  openEmptyDatabases,
  openMigrated,
  type EmptyDatabases,
} from "../../test/fixtures/open-empty-databases.ts";
import { until } from "../../test/fixtures/until.ts";
import { createLog } from "../std/log.ts";
import { migrate, migrations } from "./migrate.ts";

const log = createLog("silent");
let databases: EmptyDatabases;
before(async () => {
  databases = await openEmptyDatabases();
});
after(() => databases[Symbol.asyncDispose]());

const newDatabase = async (name: string): Promise<string> => await databases.newDatabase(name);

test("the migration takes over the jobs that an earlier version has in pg-boss, and drops its schema", async () => {
  const url = await newDatabase("before_one_queue");
  await (await openMigrated(url))[Symbol.asyncDispose]();
  await using client = await openClient(url);
  await client.query(`
    drop index transcript_job_turn;
    alter table transcript_job drop due_at;
    create index on transcript_job (priority) where state = 'PROCESSING' and lease = 0;
    create index on transcript_job (priority) where state = 'PROCESSING' and lease > 0;
    delete from kysely_migration where name = '0013_one_queue';
    create schema pgboss;
    create table pgboss.queue (name text);
    insert into pgboss.queue values ('transcript-job'), ('__pgboss__send-it');
    create table pgboss.job (id uuid, state text, retry_count int, start_after timestamptz,
      name text default 'transcript-job');
    insert into account values (gen_random_uuid(), 'test')`);
  const rows: [
    what: string,
    state: string,
    lease: number,
    queued: [state: string, retryCount: number, startsIn: string] | undefined,
    leaseThen: number,
    dueIn: number | undefined,
  ][] = [
    ["new", "PROCESSING", 0, ["created", 0, "0 s"], 0, 0],
    ["waiting for its next attempt", "PROCESSING", 1, ["retry", 1, "30 s"], 1, 30],
    ["waiting since a clock was set back", "PROCESSING", 2, ["retry", 2, "1 h"], 2, 60],
    ["leased, and not begun", "PROCESSING", 1, ["active", 2, "0 s"], 3, 0],
    ["in progress", "PROCESSING", 3, ["active", 2, "0 s"], 3, 0],
    ["lost by the queue", "PROCESSING", 1, undefined, 1, 0],
    ["ended", "SUCCESS", 1, ["completed", 0, "0 s"], 1, undefined],
  ];
  for (const [what, state, lease, queued] of rows) {
    const { rows: made } = await client.query(
      `insert into transcript_job (id, account_id, state, lease, tries, metadata, media_uri)
       select gen_random_uuid(), id, $1, $2, 3, '{}', $3 from account returning id`,
      [state, lease, what],
    );
    if (!queued) continue;
    const place = "insert into pgboss.job values ($1, $2, $3, now() + $4::interval)";
    await client.query(place, [made[0].id, ...queued]);
  }
  await using opened = await openMigrated(url);
  assert.deepEqual(opened.migrated, ["0013_one_queue"]);
  for (const [what, , , queued, lease, dueIn] of rows) {
    const { rows: found } = await client.query(
      `select lease, tries, extract(epoch from due_at - started_at)::float8 as due_in
       from transcript_job where media_uri = $1`,
      [what],
    );
    // Attempts of jobs that an older node is running do not count.
    assert.equal(found[0].tries, queued?.[0] === "active" ? 2 : 3, what);
    assert.equal(found[0].lease, lease, what);
    if (dueIn !== undefined) assert.ok(Math.abs(found[0].due_in - dueIn) < 10, what);
  }
  const schemas = await client.query("select from pg_namespace where nspname = 'pgboss'");
  assert.equal(schemas.rows.length, 0);
});

for (const [whose, queues, jobsLeft] of [
  ["another application", "('letters')", 2],
  ["another application too", "('letters'), ('transcript-job')", 1],
] as const) {
  test(`the migration keeps the pg-boss schema of ${whose}`, async () => {
    const url = await newDatabase(`pgboss_of_${jobsLeft}`);
    const list = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0013"));
    await migrate({ connectionString: url }, log, { list });
    await using client = await openClient(url);
    await client.query(`
      create schema pgboss;
      create table pgboss.queue (name text);
      insert into pgboss.queue values ${queues};
      create table pgboss.job (id uuid, state text, retry_count int, start_after timestamptz,
        name text);
      insert into pgboss.job values
        (gen_random_uuid(), 'created', 0, now(), 'letters'),
        (gen_random_uuid(), 'created', 0, now(), 'transcript-job')`);
    await using _opened = await openMigrated(url);
    const { rows } = await client.query("select name from pgboss.job");
    assert.equal(rows.length, jobsLeft);
    assert.ok(rows.some(({ name }) => name === "letters"));
  });
}

for (const [how, then] of [
  ["is leasing a job, and takes over its lease", undefined],
  ["is ending a job, although their locks are a deadlock", "select from transcript_job for update"],
] as const) {
  test(`the migration waits for an older node that ${how}`, async () => {
    const url = await newDatabase(then === undefined ? "leasing" : "ending");
    const list = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0013"));
    await migrate({ connectionString: url }, log, { list });
    await using client = await openClient(url);
    await using older = await openClient(url);
    await client.query(`
      create schema pgboss;
      create table pgboss.queue (name text);
      insert into pgboss.queue values ('transcript-job');
      insert into account values (gen_random_uuid(), 'test');
      insert into transcript_job (id, account_id, state, metadata)
      select gen_random_uuid(), id, 'PROCESSING', '{}' from account;
      create table pgboss.job as select id, 'created' as state, 0 as retry_count,
        now() as start_after, 'transcript-job' as name from transcript_job`);
    await older.query("begin; update pgboss.job set state = 'active'");
    const opening = openMigrated(url);
    await until(async () => {
      const { rows } = await client.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length === 1;
    });
    // PostgreSQL ends one of the two transactions; the migration is then repeated.
    const isOlderEnded =
      then !== undefined && (await older.query(then).catch(() => undefined)) === undefined;
    await older.query("commit");
    await using _opened = await opening;
    const { rows } = await client.query("select lease from transcript_job");
    assert.deepEqual(rows, [{ lease: isOlderEnded ? 0 : 1 }]);
  });
}
