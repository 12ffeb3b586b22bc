import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { until } from "../../test/fixtures/until.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { databaseTrouble, openDatabase, type Database } from "./database.ts";
import { signingKey } from "./signing-key.ts";

const log = createLog("silent");

let folder: string;
let database: Database;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-database-"));
  database = await openDatabase({ url: undefined, folder, log, durable: false });
});
after(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Creates another database on the same server and returns its DATABASE_URL. */
async function newDatabase(name: string, how = ""): Promise<string> {
  await database.pool.query(`create database ${name} ${how}`);
  const { host } = database.pool.options;
  return `postgres://hlust@/${name}?host=${encodeURIComponent(host ?? "")}`;
}

const open = (url: string) => openDatabase({ url, folder: "", log, durable: false });

describe("openDatabase()", () => {
  it("migrates an empty database once, when several processes open it at the same time", async () => {
    const url = await newDatabase("several");
    const opened = await Promise.all([open(url), open(url), open(url)]);
    for (const each of opened) {
      assert.deepEqual(await each.db.selectFrom("account").selectAll().execute(), []);
    }
    const done = await opened[0].pool.query("select name from kysely_migration");
    const names = done.rows.map(({ name }) => `${name}.ts`);
    const files = readdirSync(join(import.meta.dirname, "migrations"));
    assert.deepEqual(names, files.toSorted());
    await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()));
    await assert.rejects(opened[0].ping(), /after calling end/);
  });

  const icelandic =
    "template template0 encoding 'UTF8' locale_provider icu icu_locale 'und' locale 'C.UTF-8'";
  for (const [name, how, refusal] of [
    ["as_advised", icelandic, undefined],
    [
      "ascii",
      "template template0 encoding 'UTF8' locale_provider libc locale 'C'",
      /lower\('ÞÁ'\) is not 'þá'.*create database/,
    ],
    [
      "latin",
      "template template0 encoding 'LATIN1' locale_provider libc locale 'C'",
      /encoding is LATIN1/,
    ],
  ] as const) {
    it(`${refusal ? "refuses" : "takes"} a database created with ${how}`, async () => {
      const url = await newDatabase(name, how);
      if (refusal) {
        await assert.rejects(open(url), refusal);
        return;
      }
      await using opened = await open(url);
      await opened.ping();
    });
  }

  it("refuses a database that confirms commits before the data is on disk", async () => {
    const url = await newDatabase("hasty");
    await database.pool.query("alter database hasty set synchronous_commit = off");
    await assert.rejects(
      openDatabase({ url, folder: "", log }),
      /synchronous_commit is off, fsync is off.*power cut/,
    );
  });

  it("immediately reports a database that does not exist", async () => {
    const url = await newDatabase("there");
    await assert.rejects(
      open(url.replace("/there", "/absent")),
      /database of DATABASE_URL does not answer: database "absent" does not exist/,
    );
  });

  it("finds text in any alphabet by trigrams, ignoring case", async () => {
    const { rows } = await database.pool.query(
      `select show_trgm('Þjóð') = show_trgm('ÞJÓÐ') as folds, cardinality(show_trgm('þjóð')) as latin,
              cardinality(show_trgm('οδοσ')) as greek, cardinality(show_trgm('会議録')) as chinese`,
    );
    assert.deepEqual(rows, [{ folds: true, latin: 5, greek: 5, chinese: 4 }]);
  });
});

describe("databaseTrouble()", () => {
  const failure = async (run: () => Promise<unknown>): Promise<unknown> => {
    try {
      await run();
    } catch (error) {
      return error;
    }
    return assert.fail("it did not fail");
  };
  const connect = (options: pg.ClientConfig) => new pg.Client(options).connect();

  it("distinguishes an unavailable database, a slow one, and a bug", async () => {
    await using silent = await openSilentServer();
    const rows: [string, () => Promise<unknown>, string | undefined][] = [
      ["a closed port", () => connect({ host: "127.0.0.1", port: 1 }), "unavailable"],
      ["no socket", () => connect({ host: "/nowhere" }), "unavailable"],
      ["no such host", () => connect({ host: "hlust.invalid" }), "unavailable"],
      [
        "no answer",
        () => connect({ host: "127.0.0.1", port: silent.port, connectionTimeoutMillis: 50 }),
        "unavailable",
      ],
      [
        "connection ended by the server",
        () => database.pool.query("select pg_terminate_backend(pg_backend_pid())"),
        "unavailable",
      ],
      ["no room on the disk", fullDisk, "unavailable"],
      ["a deadlock", deadlock, "unavailable"],
      ["statement timeout", slowStatement, "deadline_exceeded"],
      ["a mistake in SQL", () => database.pool.query("select from where"), undefined],
      ["a broken rule", () => database.pool.query("insert into account values (null)"), undefined],
      [
        "an answer for the caller",
        () => Promise.reject(new ServiceError("not_found", "")),
        undefined,
      ],
    ];
    for (const [name, run, code] of rows) {
      const trouble = databaseTrouble(await failure(run));
      assert.equal(trouble?.code, code, name);
      if (code === "unavailable") assert.ok(trouble?.retryAfterMs, name);
    }
    const wrapped = new Error("while polling", { cause: await failure(slowStatement) });
    assert.equal(databaseTrouble(wrapped)?.reason, "DATABASE_TIMEOUT");
    assert.equal(databaseTrouble("no error"), undefined);
    assert.equal(databaseTrouble(await failure(fullDisk))?.reason, "STORAGE_FULL");
  });

  async function fullDisk(): Promise<void> {
    await database.pool.query("do $$ begin raise exception using errcode = '53100'; end $$");
  }

  /** Makes two transactions wait for each other, so that the server refuses one of them. */
  async function deadlock(): Promise<void> {
    const lockBoth = async (first: number, second: number, both: Promise<unknown>[]) => {
      const client = await database.pool.connect();
      try {
        await client.query("begin");
        const locked = client.query("select pg_advisory_xact_lock($1)", [first]);
        both.push(locked);
        await until(() => Promise.resolve(both.length === 2));
        await Promise.all(both);
        await client.query("select pg_advisory_xact_lock($1)", [second]);
        await client.query("commit");
      } finally {
        client.release(true);
      }
    };
    const both: Promise<unknown>[] = [];
    await Promise.all([lockBoth(1, 2, both), lockBoth(2, 1, both)]);
  }

  async function slowStatement(): Promise<void> {
    const client = await database.pool.connect();
    try {
      await client.query("set statement_timeout = 20");
      await client.query("select pg_sleep(10)");
    } finally {
      client.release(true);
    }
  }

  it("returns unavailable while the service's own server is killed, and nothing once it is back", async () => {
    await using own = await openTestDatabase();
    const { rows } = await own.pool.query<{ pid: number }>(
      "select pid from pg_stat_activity where backend_type = 'checkpointer'",
    );
    const pid = rows[0]?.pid ?? assert.fail("no checkpointer");
    const codes: (string | undefined)[] = [];
    const noteCode = (error: unknown) => void codes.push(databaseTrouble(error)?.code);
    const underWay = own.pool
      .query("select pg_sleep(60)")
      .then(() => assert.fail("slept"), noteCode);
    await until(() => own.pool.query(sleeping).then(({ rowCount }) => rowCount === 1));
    process.kill(pid, "SIGKILL"); // the server throws everybody out and recovers
    await underWay;
    // Even if the outage was short, the statements in progress and those sent during the outage
    // have failed.
    await until(async () => {
      await own.ping().catch((error: unknown) => {
        noteCode(error);
        throw error;
      });
      return true;
    });
    assert.deepEqual([...new Set(codes)], ["unavailable"]);
  });
});

const sleeping = "select from pg_stat_activity where query = 'select pg_sleep(60)'";

describe("signingKey()", () => {
  it("creates one key per name, even for concurrent calls", async () => {
    const asked = Array.from({ length: 8 }, () => signingKey(database.db, "signed-url"));
    const [key, ...others] = await Promise.all(asked);
    assert.equal(key?.length, 32);
    for (const other of others) assert.deepEqual(other, key);
    assert.deepEqual(await signingKey(database.db, "signed-url"), key);
    assert.notDeepEqual(await signingKey(database.db, "page-token"), key);
  });
});

/** Opens a server that accepts connections and never answers. */
async function openSilentServer(): Promise<AsyncDisposable & { port: number }> {
  const sockets: { destroy(): void }[] = [];
  const server = createServer((socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new TypeError("no port");
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
