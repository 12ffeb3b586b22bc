// A restore that is killed after its rows are committed is finished by the same command, and the
// rows of anything else are refused.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { settleArchive } from "../../src/media/archive-identity.ts";
import { openAnyArchive, openArchive } from "../../src/media/open-archive.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { contentOf } from "../fixtures/archive-content.ts";
import {
  openClient,
  openEmptyDatabases,
  openMigrated,
  type EmptyDatabases,
} from "../fixtures/open-empty-databases.ts";
import { runHlust, type EndedCommand } from "../fixtures/run-hlust.ts";
import { until } from "../fixtures/until.ts";
import { openSmallArchive, type SmallArchive } from "./small-archive.ts";

const log = createLog("silent");
let archive: SmallArchive;
let databases: EmptyDatabases;
let backup: string;
let content: Awaited<ReturnType<typeof contentOf>>;

before(async () => {
  archive = await openSmallArchive();
  databases = await openEmptyDatabases({ durable: true });
  const { db, store, accountId } = archive;
  await settleArchive({ db, store, settings: archive.settingsOf("data"), log });
  await sql`
    insert into transcript_job (id, account_id, state, metadata, media_uri, lease, tries, due_at)
    values (${newId()}, ${accountId}, 'PROCESSING', '{}', 'https://hlust.test/a.wav', 4, 2,
      now() + interval '10 seconds')`.execute(db);
  await sql`
    insert into webhook (id, account_id, url, display_name, event_types, secret)
    values (${newId()}, ${accountId}, 'https://hlust.test/hook', '', '{}', ${Buffer.alloc(32, 7)})`.execute(
    db,
  );
  backup = (await archive.backUp("backups")).folder;
  content = await contentOf(db, store);
});
after(async () => {
  await databases[Symbol.asyncDispose]();
  await archive[Symbol.asyncDispose]();
});

/** A place for a restore: an empty database with tables, and a folder. */
interface Place {
  readonly url: string;
  readonly dataFolder: string;
}

async function newPlace(name: string): Promise<Place> {
  // The socket is in an open folder of this process.
  const own = await databases.newDatabase(name);
  const url = own.replace("%2Fproc%2Fself%2F", `%2Fproc%2F${process.pid}%2F`);
  await (await openMigrated(url))[Symbol.asyncDispose]();
  const dataFolder = join(archive.folder, name);
  mkdirSync(dataFolder);
  return { url, dataFolder };
}

const restore = async (
  place: Place,
  from: string,
  args: readonly string[] = [],
  started?: Parameters<typeof runHlust>[2],
): Promise<EndedCommand> =>
  await runHlust(
    ["restore", from, ...args],
    { HLUST_DATA: place.dataFolder, DATABASE_URL: place.url },
    started,
  );

const settingsOf = ({ url, dataFolder }: Place) => ({
  dataFolder,
  database: { url },
  s3: undefined,
});

const markOf = (folder: string): string => {
  const mark: { id: string } = JSON.parse(
    readFileSync(join(folder, "media/hlust-archive"), "utf8"),
  );
  return mark.id;
};

/**
 * Starts a restore while another transaction holds what `statement` takes, and kills it with
 * SIGKILL when it waits for that.
 */
async function killedAt(place: Place, statement: string, args: readonly string[] = []) {
  await using holder = await openClient(place.url);
  await using watcher = await openClient(place.url);
  await holder.query("begin");
  await holder.query(statement);
  const waiting = async () =>
    (
      await watcher.query(
        `select from pg_stat_activity where application_name = 'hlust restore'
           and datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows.length > 0;
  const killed = await restore(place, backup, args, (child) => {
    void until(waiting, 120_000).then(() => child.kill("SIGKILL"));
  });
  assert.equal(killed.code, null, `${killed.out}${killed.errors}`);
  await holder.query("rollback");
}

/** The transactions that stop a restore at some point, by what they hold. */
const points = {
  before_the_commit: "lock table archive_identity in share mode",
  after_the_commit: "lock table archive_pulse in access exclusive mode",
  after_the_mark: "insert into archive_pulse (number, nonce) values (1, gen_random_uuid())",
} as const;

for (const [point, statement] of Object.entries(points)) {
  test(`a restore that is killed ${point.replaceAll("_", " ")} is finished by the same command`, async () => {
    const place = await newPlace(point);
    await killedAt(place, statement);
    assert.equal(
      existsSync(join(place.dataFolder, "media/hlust-archive")),
      point === "after_the_mark",
    );
    const { code, out, errors } = await restore(place, backup);
    assert.equal(code, 0, `${out}${errors}`);
    assert.match(
      out,
      /continues here[^]*\n1 unfinished jobs are queued again\.\n[^]*Nothing is wrong: /,
    );
    assert.equal(markOf(place.dataFolder), markOf(join(archive.folder, "data")));
    {
      await using opened = await openArchive(settingsOf(place));
      assert.deepEqual(opened.quarantine, []);
      assert.deepEqual(await contentOf(opened.db, opened.store), content);
      // The interrupted attempt was forgiven once, not once for each restore.
      const job = sql`select lease, tries from transcript_job`;
      assert.deepEqual((await job.execute(opened.db)).rows, [{ lease: 5, tries: 1 }]);
    }
    // It has ended now, and is not repeated.
    const again = await restore(place, backup);
    assert.equal(again.code, 2);
    assert.match(
      again.errors,
      /is not empty: [^]* ended here at \d{4}-.*: check it with `hlust fsck`/,
    );
  });
}

test("a restore that was killed is finished as a copy, killed again, and finished as the archive", async () => {
  const place = await newPlace("modes");
  const original = markOf(join(archive.folder, "data"));
  await killedAt(place, points.after_the_mark);
  assert.equal(markOf(place.dataFolder), original);
  await killedAt(place, points.after_the_mark, ["--as-copy"]);
  const copy = markOf(place.dataFolder);
  assert.notEqual(copy, original);
  const { code, out, errors } = await restore(place, backup);
  assert.equal(code, 0, `${out}${errors}`);
  assert.equal(markOf(place.dataFolder), original);
  await using opened = await openArchive(settingsOf(place));
  assert.deepEqual(opened.quarantine, []);
});

test("the rows of another restore, and of an archive that was used since, are refused", async () => {
  const place = await newPlace("others");
  await killedAt(place, points.after_the_commit);
  const other = (await archive.backUp("others")).folder;
  const refused = await restore(place, other);
  assert.equal(refused.code, 2);
  assert.match(
    refused.errors,
    /is not empty: it has rows \([^]*interrupted restore of the backup as of/,
  );
  // A service that starts here names the archive; it is in quarantine.
  {
    await using opened = await openAnyArchive(settingsOf(place));
    await settleArchive({ ...opened, settings: settingsOf(place), log });
  }
  const used = await restore(place, backup);
  assert.equal(used.code, 2);
  assert.match(used.errors, /was interrupted, and the archive has been used since/);
});
