// The commands of docs/operations/backup.md bring back the database of any moment.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { sql, type Kysely } from "kysely";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-wal-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations/backup.md"), "utf8");

/** Runs the commands of the page after a comment with this name. */
function run(name: string, moment = ""): void {
  const start = page.indexOf("```sh\n", page.indexOf(`<!-- test: ${name} -->`));
  assert.ok(start > 0, name);
  const commands = page.slice(start + 6, page.indexOf("\n```", start));
  const ended = spawnSync("bash", ["-euc", commands], {
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      HLUST_DATA: join(folder, "data"),
      NEW_DATA: join(folder, "recovered"),
      WAL: join(folder, "wal"),
      BASE: join(folder, "base"),
      MOMENT: moment,
    },
  });
  assert.equal(ended.status, 0, `${name}: ${ended.stdout}${ended.stderr}`);
}

const open = async (name: string) =>
  await openDatabase({
    url: undefined,
    folder: join(folder, name, "postgres"),
    log: createLog("silent"),
    durable: false,
  });

async function addAccount(db: Kysely<Tables>, name: string): Promise<void> {
  await db.insertInto("account").values({ id: newId(), display_name: name }).execute();
}

test("the database of a moment between two changes is recovered", async () => {
  await seedPostgres(join(folder, "data/postgres"));
  run("archive");
  {
    await using database = await open("data");
    const { db } = database;
    await addAccount(db, "before the base backup");
    run("base");
    await addAccount(db, "before the moment");
    const { rows } = await sql<{ at: string }>`
      select clock_timestamp()::text as at, pg_sleep(0.01)`.execute(db);
    await addAccount(db, "after the moment");
    const { rows: switched } = await sql<{ file: string }>`
      select pg_walfile_name(pg_switch_wal()) as file`.execute(db);
    await until(async () => {
      const archived = await sql<{ file: string }>`
        select last_archived_wal as file from pg_stat_archiver`.execute(db);
      return (archived.rows[0]?.file ?? "") >= (switched[0]?.file ?? "?");
    }, 60_000);
    run("recover", rows[0]?.at);
  }
  await using recovered = await open("recovered");
  const names = await recovered.db.selectFrom("account").select("display_name").execute();
  assert.deepEqual(names.map((each) => each.display_name).toSorted(), [
    "before the base backup",
    "before the moment",
  ]);
  await until(async () => {
    await addAccount(recovered.db, "and it accepts writes");
    return true;
  });
});
