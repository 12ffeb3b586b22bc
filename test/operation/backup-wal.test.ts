// The commands of docs/operations/backup.md bring back the archive of a service as of any moment.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { sql, type RawBuilder } from "kysely";
import { openExistingDatabase } from "../../src/database/open-existing.ts";
import { startService } from "../fault/process.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";

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

const dataOf = (name: string) => join(folder, name);

/** Runs a statement in the database of a service that is running. */
async function query<Row>(name: string, statement: RawBuilder<Row>): Promise<Row> {
  const settings = { dataFolder: dataOf(name), database: { url: undefined } };
  await using database = await openExistingDatabase(settings);
  const { rows } = await statement.execute(database.db);
  return rows[0] ?? assert.fail("no row");
}

async function call({ address, key }: Caller, method: string, path: string, body?: unknown) {
  const { status, json } = await callRest(address, key, {
    method,
    path: `/v1alpha1/${path}`,
    body,
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

interface Caller {
  readonly address: string;
  readonly key: string;
}

/** Makes a transcript with media. */
async function add(caller: Caller, subject: string): Promise<void> {
  const metadata = { languageCode: "is-IS", fileType: "AUDIO", subject };
  const { name } = await call(caller, "POST", "transcripts", { metadata });
  const started = await call(caller, "POST", "initupload", { resourceName: name });
  const put = await fetch(started.storageSignedUrl, { method: "PUT", body: subject });
  assert.equal(put.status, 200);
}

/** Returns the bytes of the media of each transcript, by its subject. */
async function found(caller: Caller): Promise<Record<string, string>> {
  const { transcripts } = await call(caller, "GET", "transcripts");
  const media: Record<string, string> = {};
  for (const { metadata, uri } of transcripts) {
    media[metadata.subject] = await (await fetch(uri)).text();
  }
  return media;
}

test(
  "the archive of a service as of a moment between two changes is recovered",
  { timeout: 300_000 },
  async () => {
    const scripted = { HLUST_ENGINE: "scripted" };
    await seedPostgres(join(dataOf("data"), "postgres"));
    run("archive");
    let key = "";
    {
      await using service = await startService(dataOf("data"), scripted);
      ({ key } = service);
      await add(service, "before the base backup");
      run("base");
      await add(service, "before the moment");
      const { at } = await query(
        "data",
        sql<{ at: string }>`select clock_timestamp()::text as at, pg_sleep(0.01)`,
      );
      await add(service, "after the moment");
      const switched = await query(
        "data",
        sql<{ file: string }>`select pg_walfile_name(pg_switch_wal()) as file`,
      );
      await until(async () => {
        const { file } = await query(
          "data",
          sql<{ file: string | null }>`select last_archived_wal as file from pg_stat_archiver`,
        );
        return (file ?? "") >= switched.file;
      }, 60_000);
      run("recover", at);
    }
    cpSync(join(dataOf("data"), "media"), join(dataOf("recovered"), "media"), { recursive: true });
    const expected = {
      "before the base backup": "before the base backup",
      "before the moment": "before the moment",
    };
    {
      await using copy = await startService(dataOf("recovered"), scripted);
      assert.match(copy.output().out, /in quarantine: /);
      assert.deepEqual(await found({ address: copy.address, key }), expected);
    }
    const environment = { HLUST_DATA: dataOf("recovered") };
    const released = await runHlust(["archive", "release"], environment);
    assert.equal(released.code, 0, `${released.out}${released.errors}`);
    await using recovered = await startService(dataOf("recovered"), scripted);
    assert.doesNotMatch(recovered.output().out, /quarantine/);
    const caller = { address: recovered.address, key };
    await add(caller, "later");
    assert.deepEqual(await found(caller), { ...expected, later: "later" });
  },
);
