// What migrations declare, and which programs may run on the schema that they leave.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { pino } from "pino";
import {
  openClient,
  openEmptyDatabases,
  openMigrated,
  type EmptyDatabases,
} from "../../test/fixtures/open-empty-databases.ts";
import { until } from "../../test/fixtures/until.ts";
import { compareVersions } from "../std/compare-versions.ts";
import { createLog } from "../std/log.ts";
import { packageVersion } from "../std/version.ts";
import { openDatabase } from "./database.ts";
import { migrate, migrations } from "./migrate.ts";
import type { SchemaChange, TableLock } from "./schema-change.ts";

const silent = createLog("silent");

let databases: EmptyDatabases;
before(async () => {
  databases = await openEmptyDatabases();
});
after(() => databases[Symbol.asyncDispose]());

const newDatabase = async (name: string): Promise<string> => await databases.newDatabase(name);

/** Returns all migrations, and one of a version to come. */
function andLater(
  oldestProgram: string,
  up: SchemaChange["up"] = () => Promise.resolve(),
  locks: SchemaChange["locks"] = {},
) {
  return { ...migrations, "9999_later": { oldestProgram, locks, up } };
}

/** The locks for which writes wait, or reads and writes. */
const waitModes = `'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'`;

describe("a migration", () => {
  it("declares a version that is not newer than the program", () => {
    for (const [name, { oldestProgram }] of Object.entries(migrations)) {
      assert.match(oldestProgram, /^\d+\.\d+\.\d+$/, name);
      assert.ok(compareVersions(oldestProgram, packageVersion()) <= 0, name);
    }
  });

  it("declares the locks that it takes on existing tables", async () => {
    const connectionString = await newDatabase("locks");
    const pool = new pg.Pool({ connectionString, max: 1 });
    await using db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    for (const [name, { up, locks }] of Object.entries(migrations)) {
      await db.transaction().execute(async (trx) => {
        const tables = await sql<{ oid: number; name: string }>`
          select oid::int, relname as name from pg_class
          where relkind = 'r' and relnamespace::regnamespace::text = 'public'`.execute(trx);
        await up(trx);
        const { rows } = await sql<{ oid: number; mode: string }>`
          select relation::int as oid, mode from pg_locks
          where pid = pg_backend_pid() and mode in (${sql.raw(waitModes)})`.execute(trx);
        const taken: Record<string, TableLock> = {};
        for (const { oid, mode } of rows) {
          const table = tables.rows.find((each) => each.oid === oid)?.name;
          if (table === undefined || taken[table] === "calls") continue;
          taken[table] = mode === "AccessExclusiveLock" ? "calls" : "writes";
        }
        assert.deepEqual(taken, locks, name);
      });
    }
  });

  it("has no deadlock with a call: it locks all its tables before it changes the first", async () => {
    const url = await newDatabase("deadlock");
    await migrate({ connectionString: url }, silent);
    await using caller = await openClient(url);
    await caller.query("begin; select from transcript_job limit 1");
    const list = andLater(
      "0.1.0",
      async (db) => {
        await sql`alter table alignment_job add later_note text`.execute(db);
        // The call waits for that table by now, and would be aborted for the next one.
        await sql`select pg_sleep(0.6)`.execute(db);
        await sql`alter table transcript_job add later_note text`.execute(db);
      },
      { alignment_job: "calls", transcript_job: "calls" },
    );
    const migrating = migrate({ connectionString: url }, silent, { list });
    await using observer = await openClient(url);
    await until(async () => {
      const { rows } = await observer.query(
        "select from pg_locks where mode = 'AccessExclusiveLock' and relation = 'alignment_job'::regclass",
      );
      return rows.length > 0;
    });
    await caller.query("select from alignment_job limit 1; commit");
    assert.deepEqual(await migrating, ["9999_later"]);
  });

  it("waits for a table in use, and lets calls that wait behind it pass meanwhile", async () => {
    const url = await newDatabase("table_in_use");
    await migrate({ connectionString: url }, silent);
    await using user = await openClient(url);
    await using caller = await openClient(url);
    await user.query("begin; lock table transcript_job in access share mode");
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const list = andLater("0.1.0", async (db) => {
      await sql`alter table transcript_job add later_note text`.execute(db);
    });
    const migrating = migrate({ connectionString: url }, log, { list });
    const hasWaited = () => lines.some((line) => line.includes("a table that a transaction uses"));
    await until(() => Promise.resolve(hasWaited()));
    // Without the limit of the lock, this would wait until the transaction of `user` ends.
    await caller.query("set statement_timeout = '15s'; select from transcript_job");
    await user.query("commit");
    assert.deepEqual(await migrating, ["9999_later"]);
  });
});

describe("a program", () => {
  it("runs on the schema of a newer version that allows it, and logs it", async () => {
    const url = await newDatabase("expanded");
    await migrate({ connectionString: url }, silent, { list: andLater(packageVersion()) });
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    await using opened = await openDatabase({ url, folder: "", log, durable: false });
    assert.deepEqual(opened.migrated, []);
    const line = lines.find((each) => each.includes("database.newer_schema"));
    assert.deepEqual(JSON.parse(line ?? "{}").migrations, ["9999_later"]);
    assert.deepEqual(await opened.db.selectFrom("account").selectAll().execute(), []);
  });

  it("refuses the schema of a newer version that does not allow it", async () => {
    const url = await newDatabase("contracted");
    const list = {
      ...andLater("9.10.0"),
      "9998_other": { oldestProgram: "9.9.0", locks: {}, up: () => Promise.resolve() },
    };
    await migrate({ connectionString: url }, silent, { list });
    await assert.rejects(openMigrated(url), {
      name: "NewerSchemaError",
      message: new RegExp(
        `needs Hlust 9\\.10\\.0 or newer, and this is ${packageVersion()}.*9999_later.*restore a backup`,
      ),
    });
  });

  it("refuses a migration that it does not know and that states no version", async () => {
    const url = await newDatabase("unstated");
    await migrate({ connectionString: url }, silent);
    await using client = await openClient(url);
    await client.query("alter table kysely_migration drop oldest_program");
    await client.query("insert into kysely_migration values ('0002_other', '')");
    await assert.rejects(openMigrated(url), /newer Hlust.*0002_other.*does not state the versions/);
  });

  it("uses a database whose migrations were made before versions were stored", async () => {
    const url = await newDatabase("before_versions");
    await migrate({ connectionString: url }, silent);
    await using client = await openClient(url);
    await client.query("alter table kysely_migration drop oldest_program");
    await (await openMigrated(url))[Symbol.asyncDispose]();
    assert.deepEqual(
      await migrate({ connectionString: url }, silent, { list: andLater("0.1.0") }),
      ["9999_later"],
    );
    const { rows } = await client.query(
      "select name, oldest_program from kysely_migration where oldest_program is not null",
    );
    assert.deepEqual(rows, [{ name: "9999_later", oldest_program: "0.1.0" }]);
  });
});
