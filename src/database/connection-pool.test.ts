import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { until } from "../../test/fixtures/until.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { type Database, databaseTrouble, openDatabase } from "./database.ts";

let folder: string;
let owner: Database;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-pool-"));
  owner = await openDatabase({
    url: undefined,
    folder,
    log: pino({ level: "silent" }),
    durable: false,
  });
  await owner.pool.query(`create role limited login connection limit 8;
    grant all on all tables in schema public to limited`);
});
after(async () => {
  await owner[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/**
 * Opens the pool of a node with its own role, for which the server allows this number of
 * connections.
 */
async function openPool(role: string, limit: number, waitMsMax = 20_000) {
  await owner.pool.query(`create role ${role} login connection limit ${limit}`);
  const host = join(folder, "18");
  const log = pino({ level: "silent" });
  const pool = new ConnectionPool({
    connection: { host, user: role, database: "postgres" },
    connectionsMax: 20,
    waitMsMax,
    statementMsMax: 30_000,
    log,
  });
  const limitTo = (count: number) =>
    owner.pool.query(`alter role ${role} connection limit ${count}`);
  return { pool, limitTo, [Symbol.asyncDispose]: () => pool.end() };
}

/** The number of connections of a role, as the server reports them. */
async function connectionsOf(role: string): Promise<number> {
  const { rows } = await owner.pool.query(
    "select count(*)::int from pg_stat_activity where usename = $1",
    [role],
  );
  return rows[0].count;
}

/** Opens a relay of the server's socket, in its own folder, that counts connections. */
async function openCounter() {
  const counted = await mkdtemp(join(tmpdir(), "hlust-counter-"));
  let count = 0;
  const counter = createServer((near) => {
    count += 1;
    const far = connect(join(folder, "18", ".s.PGSQL.5432"));
    for (const socket of [near, far]) socket.on("error", () => {});
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => {
    counter.listen(join(counted, ".s.PGSQL.5432"), resolve);
  });
  return {
    host: counted,
    count: () => count,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => counter.close(resolve));
      await rm(counted, { recursive: true });
    },
  };
}

/**
 * Opens a node whose role may have 8 connections, shared by all nodes of the role. Also returns the
 * node's log events.
 */
async function openNode(waitMsMax = 5_000) {
  const events: string[] = [];
  const log = pino(
    { level: "info", messageKey: "event" },
    { write: (line: string) => void events.push(JSON.parse(line).event) },
  );
  const host = encodeURIComponent(join(folder, "18"));
  const url = `postgres://limited@/postgres?host=${host}`;
  const database = await openDatabase({ url, folder: "", log, durable: false, waitMsMax });
  return { database, events, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

test("a call waits for a connection of its node if the server has none left, with four nodes sharing eight", async () => {
  await using opened = new AsyncDisposableStack();
  const nodes = [];
  for (let count = 0; count < 4; count++) nodes.push(opened.use(await openNode()));
  const calls = nodes.flatMap(({ database: { db, pool } }) =>
    Array.from({ length: 150 }, async (_, number) => {
      if (number % 3 === 0) await pool.query("select pg_sleep(0.005)");
      else if (number % 3 === 1) await sql`select pg_sleep(0.005)`.execute(db);
      else await db.transaction().execute((trx) => sql`select pg_sleep(0.005)`.execute(trx));
    }),
  );
  const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected");
  assert.deepEqual(failed, [], `${failed.length} of ${calls.length} failed`);
  const all = nodes.flatMap(({ events }) => events);
  const refused = all.filter((event) => event === "database.connections_refused");
  assert.ok(refused.length >= 1 && refused.length <= nodes.length, all.join());
});

test("a call of a node without any connection waits for one, within its time limit", async () => {
  await using first = await openNode();
  await using late = await openNode(300);
  await using held = new AsyncDisposableStack();
  // All connections are held except the last one of the other node, which is in use, too.
  const hold = async (node: typeof first) => {
    const client = await node.database.pool.connect();
    held.defer(() => client.release());
  };
  for (let count = 0; count < 7; count++) await hold(first);
  await hold(late);
  const start = performance.now();
  const error = await late.database.ping().then(
    () => assert.fail("there was a connection"),
    (error: unknown) => error,
  );
  // A timer may fire in the millisecond before its time.
  assert.ok(performance.now() - start >= 299);
  assert.equal(databaseTrouble(error)?.reason, "DATABASE_UNAVAILABLE");
  const waiting = first.database.ping();
  await held.disposeAsync();
  await waiting;
  await late.database.ping();
});

test("a node without any connection asks a full server ten times a second, regardless of how many calls wait", async () => {
  await using counter = await openCounter();
  await owner.pool.query("create role starved login connection limit 0");
  const pool = new ConnectionPool({
    connection: { host: counter.host, user: "starved", database: "postgres" },
    connectionsMax: 20,
    waitMsMax: 1_500,
    statementMsMax: 30_000,
    log: pino({ level: "silent" }),
  });
  const calls = Array.from({ length: 10 }, () => pool.query("select 1"));
  const ends = await Promise.allSettled(calls);
  assert.ok(ends.every(({ status }) => status === "rejected"));
  assert.ok(counter.count() >= 2 && counter.count() <= 20, `asked ${counter.count()} times`);
  await pool.end();
});

test("a pool that is refused a connection keeps three quarters of its own, although all are released at once", async () => {
  await using node = await openPool("burst", 8);
  const clients = await Promise.all(Array.from({ length: 8 }, () => node.pool.connect()));
  const refused = node.pool.query("select 1");
  await until(() => Promise.resolve(node.pool.options.max < 20));
  for (const client of clients) client.release();
  await refused;
  await until(async () => (await connectionsOf("burst")) < 8);
  assert.equal(await connectionsOf("burst"), 6);
  assert.equal(node.pool.totalCount, 6);
});

test("waiting calls get a connection as soon as the server has one again, while the node's own stay in use", async () => {
  await using node = await openPool("woken", 1);
  const held = await node.pool.connect();
  const calls = Array.from({ length: 5 }, () => node.pool.query("select 1"));
  await until(() => Promise.resolve(node.pool.options.max === 1));
  await node.limitTo(3);
  await Promise.all(calls);
  held.release();
});

test("a call respects its time limit if its turn comes late and the server then refuses a connection", async () => {
  const waitMsMax = 2_000;
  await using node = await openPool("late", 2, waitMsMax);
  const held = await Promise.all([node.pool.connect(), node.pool.connect()]);
  const start = performance.now();
  const waiting = assert.rejects(node.pool.query("select 1"), /too many|timeout exceeded/);
  await until(() => Promise.resolve(node.pool.options.max <= 2));
  await node.limitTo(0);
  await until(() => Promise.resolve(performance.now() - start > 0.8 * waitMsMax));
  held[0].release(true);
  await waiting;
  const waitedMs = performance.now() - start;
  held[1].release();
  assert.ok(waitedMs >= waitMsMax && waitedMs < 1.6 * waitMsMax, `${waitedMs} ms`);
});

test("a connection is closed if its caller has left a transaction open, so that no later statement is lost", async () => {
  await owner.pool.query("create table kept (id int)");
  await owner.pool.query("grant insert on kept to public");
  await using node = await openPool("left_open", 1);
  await node.pool.query("begin");
  await node.pool.query("insert into kept values (1)");
  const { rows } = await owner.pool.query("select id from kept");
  assert.deepEqual(rows, [{ id: 1 }]);
});
