import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import {
  type Database,
  type DatabaseOptions,
  databaseTrouble,
  openDatabase,
} from "../../src/database/database.ts";
import { openOwnPostgres } from "../../src/database/own-postgres.ts";
import { createLog } from "../../src/std/log.ts";
import { openTestPgbouncer, type TestPgbouncer } from "../fixtures/open-test-pgbouncer.ts";
import { pollJob, submit } from "../spec/jobs.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openMediaHost } from "../spec/media-host.ts";
import { openTestService } from "../spec/service.ts";
import { until, within } from "../fixtures/until.ts";
import { scriptedSamples } from "./scripted-recording.ts";

const log = createLog("silent");
const nodesCount = 12;
const parts = new AsyncDisposableStack();
/** A direct connection to the server, without a pooler. */
let direct: pg.Pool;
let socketFolder: string;

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-pooler-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const server = parts.use(await openOwnPostgres({ folder, log }));
  socketFolder = join(folder, "18");
  direct = new pg.Pool({ ...server.connection, max: 2 });
  direct.on("error", () => {}); // the server may end before its last connection
  parts.defer(() => direct.end());
});
after(() => parts.disposeAsync());

/** Runs a transaction that is idle until the server ends it. */
async function idleTransaction(db: Database["db"], name: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`select 1`.execute(trx);
    await until(async () => (await busyIn(name)).length === 0);
    await sql`select 1`.execute(trx);
  });
}

/** Returns the unfinished statements and transactions of a database. */
async function busyIn(name: string): Promise<unknown[]> {
  const { rows } = await direct.query(
    `select query from pg_stat_activity where datname = $1 and backend_type = 'client backend'
     and (query ~ 'pg_sleep' and state = 'active' or state ~ '^idle in transaction')`,
    [name],
  );
  return rows;
}

/** Opens the part of a node that the database sees: its pool. */
async function openNode(url: string, limits: Pick<DatabaseOptions, "statementMsMax"> = {}) {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(
    await openDatabase({ url, folder: "", log, durable: false, ...limits }),
  );
  const open = opened.move();
  return { database, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

for (const mode of ["session", "transaction"] as const) {
  describe(`nodes behind a PgBouncer with default settings in ${mode} mode`, () => {
    const name = `pooled_${mode}`;
    let pgbouncer: TestPgbouncer;
    before(async () => {
      await direct.query(`create database ${name}`);
      pgbouncer = await openTestPgbouncer({ postgres: socketFolder, mode });
    });
    after(() => pgbouncer[Symbol.asyncDispose]());

    it("start concurrently on an empty database, and again on a migrated one", async () => {
      for (const round of ["empty", "made"]) {
        const opening = Array.from({ length: nodesCount }, () => openNode(pgbouncer.url(name)));
        const nodes = await within(
          `${round}: ${nodesCount} starts`,
          Promise.allSettled(opening),
          60_000,
        );
        await using opened = new AsyncDisposableStack();
        for (const node of nodes) if (node.status === "fulfilled") opened.use(node.value);
        for (const node of nodes) if (node.status === "rejected") throw node.reason;
        const migrated = nodes.flatMap((node) =>
          node.status === "fulfilled" ? node.value.database.migrated : [],
        );
        assert.equal(migrated.length > 0, round === "empty");
        assert.deepEqual(migrated, [...new Set(migrated)], "each migration once");
      }
    });

    it("time out single statements, statements in a transaction, and idle transactions", async () => {
      await using node = await openNode(pgbouncer.url(name), { statementMsMax: 1_000 });
      const { db, pool } = node.database;
      const nap = sql`select pg_sleep(60)`;
      const rows: [what: string, run: () => Promise<unknown>, code: string][] = [
        ["alone", () => nap.execute(db), "deadline_exceeded"],
        ["in the queue", () => pool.query("select pg_sleep(60)"), "deadline_exceeded"],
        [
          "in a transaction",
          () => db.transaction().execute((trx) => nap.execute(trx)),
          "deadline_exceeded",
        ],
        ["idle", () => idleTransaction(db, name), "unavailable"],
      ];
      for (const [what, run, code] of rows) {
        const error = await run().then(
          () => assert.fail(`${what}: it ended`),
          (error: unknown) => error,
        );
        assert.equal(databaseTrouble(error)?.code, code, what);
        await until(async () => (await busyIn(name)).length === 0);
        await node.database.ping();
      }
      const left = await pool.query(
        "select setting from pg_settings where name ~ 'e_timeout$|n_session_timeout$' and setting <> '0'",
      );
      assert.deepEqual(left.rows, [], "no limit stays with a connection of the server");
    });

    it("immediately report a limit in DATABASE_URL that the pooler refuses", async () => {
      const url = `${pgbouncer.url(name)}&lock_timeout=5000`;
      await within(
        "the end of the start",
        assert.rejects(openNode(url), /lock_timeout.*from DATABASE_URL.*ignore_startup_parameters/),
        10_000,
      );
    });

    it("leave no transaction open if its limits cannot be set", async () => {
      const url = pgbouncer.url(name);
      // PostgreSQL does not accept this value once it is doubled.
      const limits = { connectionsMax: 1, statementMsMax: 1_500_000_000 };
      const options = { url, folder: "", log, durable: false, ...limits };
      await using database = await openDatabase(options);
      const { db, pool } = database;
      const nothing = db.transaction().execute((trx) => sql`select 1`.execute(trx));
      await assert.rejects(nothing, /idle_in_transaction_session_timeout/);
      await pool.query("select 1");
    });

    it("answer calls and finish a job while the server's connections are cut", async () => {
      await using service = await openTestService({
        DATABASE_URL: pgbouncer.url(name),
        HLUST_ENGINE: "scripted",
        HLUST_LOG: "fatal",
      });
      const samples = scriptedSamples([1_000, 2_000], { pauseMs: 1_000 });
      await using host = await openMediaHost({ "/talk.wav": wavOf(samples) });
      const { json } = await submit(service, `${host.address}/talk.wav`);
      const statuses: number[] = [];
      for (let call = 0; call < 40; call++) {
        if (call % 10 === 5) {
          await direct.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
            [name],
          );
        }
        statuses.push((await service.call("GET", "/v1alpha1/transcripts")).status);
      }
      const { last } = await pollJob(service, json.name);
      assert.equal(last.state, "SUCCESS");
      assert.deepEqual(
        statuses.filter((status) => status !== 200 && status !== 503),
        [],
      );
      assert.ok(statuses.filter((status) => status === 200).length >= 30, statuses.join());
    });
  });
}
