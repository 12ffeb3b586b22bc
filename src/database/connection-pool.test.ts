import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
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
    grant all on all tables in schema public to limited; grant usage on schema pgboss to limited;
    grant select on all tables in schema pgboss to limited`);
});
after(async () => {
  await owner[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A node whose role may have 8 connections, together with all the others; its log by event. */
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

test("a call waits for a connection of its node where the server has none left: four nodes share eight", async () => {
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
  const told = nodes.flatMap(({ events }) => events);
  const refused = told.filter((event) => event === "database.connections_refused");
  assert.ok(refused.length >= 1 && refused.length <= nodes.length, told.join());
});

test("a call of a node without any connection waits for one, and for no longer than it may", async () => {
  await using first = await openNode();
  await using late = await openNode(300);
  await using held = new AsyncDisposableStack();
  // All but the one that the other node keeps, and that one is in use, too.
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
  assert.ok(performance.now() - start >= 300);
  assert.equal(databaseTrouble(error)?.reason, "DATABASE_UNAVAILABLE");
  const waiting = first.database.ping();
  await held.disposeAsync();
  await waiting;
  await late.database.ping();
});
