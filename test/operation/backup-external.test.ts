// A backup moves an archive from the service's own PostgreSQL 18 to one of Debian, version 15, and
// back.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openArchive } from "../../src/media/open-archive.ts";
import { newId } from "../../src/std/ids.ts";
import { foldPhrase } from "../../src/vocabulary/fold-phrase.ts";
import { ArchiveWriter, type Target } from "../fault/archive-writer.ts";
import { chanceOf } from "../fault/chance.ts";
import { keyOf, startServing } from "../fault/serving.ts";
import { contentOf } from "../fixtures/archive-content.ts";
import { openDebianPostgres, type DebianPostgres } from "../fixtures/open-debian-postgres.ts";
import { runHlust } from "../fixtures/run-hlust.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";
import { until } from "../fixtures/until.ts";

let folder: string;
let debian: DebianPostgres;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-backup-external-"));
  // Their text must not depend on the settings of the server.
  debian = await openDebianPostgres(["timezone=Asia/Kolkata", "datestyle=SQL,DMY"]);
});
after(async () => {
  await debian[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const settingsOf = (dataFolder: string, url?: string) => ({
  dataFolder,
  database: { url },
  s3: undefined,
});

async function contentIn(dataFolder: string, url?: string) {
  await using archive = await openArchive(settingsOf(dataFolder, url));
  assert.deepEqual(archive.quarantine, []);
  return await contentOf(archive.db, archive.store);
}

async function hlust(args: readonly string[], dataFolder: string, url?: string): Promise<string> {
  const environment = { HLUST_DATA: dataFolder, ...(url !== undefined && { DATABASE_URL: url }) };
  const ended = await runHlust(args, environment);
  assert.equal(ended.code, 0, `${ended.out}${ended.errors}`);
  return ended.out;
}

async function moved(from: string, to: string, urls: { from?: string; to?: string }) {
  const out = await hlust(["backup", join(folder, "backups"), "--json"], from, urls.from);
  const made: { folder: string } = JSON.parse(out);
  return await hlust(["restore", made.folder], to, urls.to);
}

/** Adds values whose text could differ between servers, or could be misread. */
async function addOddRows(dataFolder: string): Promise<void> {
  await using archive = await openArchive(settingsOf(dataFolder));
  const { db } = archive;
  const { id: accountId } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow();
  for (const [at, phrase] of [
    "tab\\t\t\\N",
    "line\nbreak\r\n\\.",
    "þæö 会議録 \u{1F3A7} NULL",
  ].entries()) {
    await sql`insert into vocabulary_phrase
      (id, account_id, language_code, phrase, folded, weight, sounds_like, source, state, created_at)
      values (${newId()}, ${accountId}, 'is-IS', ${phrase}, ${foldPhrase(phrase)}, ${0.1 + at / 3},
        ${[phrase, "", "NULL", '"']}, 'USER', 'CANDIDATE', '2026-03-04 05:06:07.000001+00')`.execute(
      db,
    );
  }
  await sql`insert into usage_day (subject_id, account_id, day, live_ms)
    values (${accountId}, ${accountId}, '2026-03-04', 9007199254740993)`.execute(db);
}

test("an archive moves to a PostgreSQL 15 and back, with every row and all media", async () => {
  const [own, external, back] = ["own", "external", "back"].map((name) => join(folder, name));
  assert.ok(own !== undefined && external !== undefined && back !== undefined);
  const serving = await startServing(own);
  const at: Target = { address: serving.address, key: keyOf(own) };
  const writer = new ArchiveWriter(at, 1, chanceOf(7));
  const stop = new AbortController();
  const writing = writer.write(stop.signal);
  await until(() => Promise.resolve(writer.counts.answered >= 60), 90_000);
  stop.abort();
  await writing;
  await serving.stop();
  await addOddRows(own);
  const content = await contentIn(own);
  for (const table of ["media", "transcript_version", "vocabulary_phrase", "bytes of media"]) {
    assert.ok((content[table]?.length ?? 0) > 0, table);
  }

  const url = await debian.newDatabase("archive");
  const there = await moved(own, external, { to: url });
  assert.match(there, /^Restored the archive .*\n[^]*\nNothing is wrong: /);
  assert.deepEqual(await contentIn(external, url), content);

  await seedPostgres(join(back, "postgres"));
  await moved(external, back, { from: url });
  assert.deepEqual(await contentIn(back), content);
  const again = await startServing(back);
  at.address = again.address;
  await writer.verify();
  await again.stop();
});
