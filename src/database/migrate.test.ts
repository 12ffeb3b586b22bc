import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { until, within } from "../../test/fixtures/until.ts";
import { openDatabase } from "./database.ts";
import { openOwnPostgres } from "./own-postgres.ts";

const parts = new AsyncDisposableStack();
/** A pool of a superuser. */
let pool: pg.Pool;
/** Returns a DATABASE_URL. */
let urlOf: (role: string, name: string) => string;
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-migrating-"));
  parts.defer(() => rm(folder, { recursive: true }));
  const log = pino({ level: "silent" });
  const server = parts.use(await openOwnPostgres({ folder, log, durable: false }));
  const host = encodeURIComponent(join(folder, "18"));
  urlOf = (role, name) => `postgres://${role}@/${name}?host=${host}`;
  pool = new pg.Pool(server.connection);
  pool.on("error", () => {}); // the server may end before its last connection
  parts.defer(() => pool.end());
});
after(() => parts.disposeAsync());

/**
 * Opens a database that is being migrated elsewhere. `waits` resolves when the log reports that the
 * start is waiting.
 */
function openWaiting(url: string, signal?: AbortSignal) {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const opening = openDatabase({ url, folder: "", log, durable: false, ...(signal && { signal }) });
  // The promise is awaited later: it settles only after the next steps.
  opening.catch(() => {});
  const hasWaited = () => lines.some((line) => line.includes("database.migration_waiting"));
  const waits = () => Promise.race([opening, until(() => Promise.resolve(hasWaited()))]);
  return { opening, waits, hasWaited };
}

/**
 * Creates an empty database, and a connection to it that holds an advisory lock until the
 * connection ends.
 */
async function openLocked(name: string, lock: string) {
  await pool.query(`create database ${name}`);
  const url = urlOf("hlust", name);
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  await other.query("select pg_advisory_lock($1)", [lock]);
  return { url, [Symbol.asyncDispose]: () => other.end() };
}

// Each test waits longer than the timeout of one lock.
describe("a start that has to change the schema", { concurrency: true }, () => {
  for (const [who, lock] of [
    ["another process", "4750412"],
    ["one of an earlier version", "3853314791062309107"],
  ] as const) {
    it(`logs that it waits while ${who} changes the schema, and then continues`, async () => {
      const locked = await openLocked(`locked_${lock}`, lock);
      const { opening, waits, hasWaited } = openWaiting(locked.url);
      await waits();
      await locked[Symbol.asyncDispose]();
      await using opened = await opening;
      assert.ok(opened.migrated.length > 0);
      assert.ok(hasWaited());
    });
  }

  it("stops waiting when its signal aborts", async () => {
    await using locked = await openLocked("aborted", "4750412");
    const stop = new AbortController();
    const { opening, waits } = openWaiting(locked.url, stop.signal);
    await waits();
    stop.abort();
    await within("its end", assert.rejects(opening, { name: "AbortError" }), 15_000);
  });

  it("waits for a free connection, and needs only one if no migration is pending", async () => {
    await pool.query("create role narrow login connection limit 1");
    await pool.query("create database narrow owner narrow");
    const { opening, waits, hasWaited } = openWaiting(urlOf("narrow", "narrow"));
    await waits();
    assert.ok(hasWaited());
    await pool.query("alter role narrow connection limit 2");
    const opened = await opening;
    assert.ok(opened.migrated.length > 0);
    await opened[Symbol.asyncDispose]();
    await pool.query("alter role narrow connection limit 1");
    await until(async () => {
      const left = await pool.query("select from pg_stat_activity where usename = 'narrow'");
      return left.rows.length === 0;
    });
    const again = openWaiting(urlOf("narrow", "narrow"));
    await using second = await again.opening;
    assert.deepEqual([second.migrated, again.hasWaited()], [[], false]);
  });
});
