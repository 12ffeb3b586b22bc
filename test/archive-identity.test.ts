// The archive of a database and a media store, which is named, compared, copied, moved, adopted and
// released.
import assert from "node:assert/strict";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { sql } from "kysely";
import { examineArchive, settleArchive } from "../src/media/archive-identity.ts";
import type { ArchiveSettings } from "../src/media/archive-place.ts";
import { openArchivePulse } from "../src/media/archive-pulse.ts";
import { quarantineReasons } from "../src/media/archive-quarantine.ts";
import { findArchiveRow } from "../src/media/archive-row.ts";
import { openDiskStore } from "../src/media/disk-store.ts";
import { insertMedia } from "../src/media/media-records.ts";
import type { MediaStore } from "../src/media/media-store.ts";
import { openServedArchive } from "../src/media/open-served-archive.ts";
import {
  adoptMedia,
  archiveState,
  quarantineArchive,
  releaseArchive,
} from "../src/operator/archive.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { openTestDatabase } from "./fixtures/open-test-database.ts";
import { until } from "./fixtures/until.ts";

const log = createLog("silent");
const database = await openTestDatabase();
const opened = new AsyncDisposableStack();
opened.use(database);
after(() => opened.disposeAsync());
const { db } = database;

let folders = 0;
/** Returns a data folder with a media store, and a folder for a separate database. */
async function newPlace(dataFolder = join(database.folder, `place-${++folders}`)) {
  await mkdir(join(dataFolder, "postgres"), { recursive: true });
  const store = opened.use(await openDiskStore(join(dataFolder, "media"), { log, sweeps: false }));
  const settings: ArchiveSettings = { dataFolder, database: { url: undefined }, s3: undefined };
  return { db, store, settings, log, dataFolder };
}
type Place = Awaited<ReturnType<typeof newPlace>>;

afterEach(async () => {
  for (const table of ["archive_identity", "archive_pulse", "media"] as const) {
    await db.deleteFrom(table).execute();
  }
});

async function addMedia(store: MediaStore, options: { isRecorded: boolean }): Promise<string> {
  const id = newId();
  const bytes = async function* () {
    yield Buffer.from("bytes");
  };
  const stored = await store.put(id, bytes(), { bytesMax: 10 });
  if (!options.isRecorded) return id;
  const accountId = newId();
  await db.insertInto("account").values({ id: accountId, display_name: "test" }).execute();
  await db.transaction().execute(async (trx) => {
    await insertMedia(trx, { id, accountId, ...stored });
  });
  return id;
}

async function reasons(place: Place): Promise<readonly string[]> {
  return await quarantineReasons(place, await settleArchive(place));
}

/** Rewrites the table, as pg_restore and every other copying of the rows does. */
async function restoreDump(): Promise<void> {
  const rows = await db.selectFrom("archive_identity").selectAll().execute();
  await db.deleteFrom("archive_identity").execute();
  await db.insertInto("archive_identity").values(rows).execute();
}

const markOf = async ({ dataFolder }: Place) =>
  JSON.parse(await readFile(join(dataFolder, "media/hlust-archive"), "utf8"));

test("a new archive is named once, in the database and the media store, by nodes that start concurrently", async () => {
  const place = await newPlace();
  assert.deepEqual(await examineArchive(place), { kind: "new" });
  assert.equal(await findArchiveRow(db), undefined, "examining writes nothing");
  const rows = await Promise.all(Array.from({ length: 4 }, () => settleArchive(place)));
  assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
  assert.equal((await markOf(place)).id, rows[0]?.id);
  assert.equal((await settleArchive(place)).id, rows[0]?.id);
  assert.deepEqual(await reasons(place), []);
});

test("one of two nodes with separate folders that start concurrently on a new database is refused", async () => {
  const places = [await newPlace(), await newPlace()];
  const settled = await Promise.allSettled(places.map(settleArchive));
  const refused = settled.filter((each) => each.status === "rejected");
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]?.reason), /has no file hlust-archive.*one folder that they share/);
});

test("a node that was killed between writing the two marks finds its own archive again", async () => {
  const place = await newPlace();
  const { id } = await settleArchive(place);
  await db.updateTable("archive_identity").set({ marked_at: null }).execute();
  assert.equal((await settleArchive(place)).id, id);
  // This is the state before the store was marked.
  await db.updateTable("archive_identity").set({ marked_at: null }).execute();
  await rm(join(place.dataFolder, "media/hlust-archive"));
  assert.equal((await settleArchive(place)).id, id);
  assert.equal((await markOf(place)).id, id);
});

test("an archive created before marks existed is marked, whatever state a kill has left it in", async () => {
  const place = await newPlace();
  for (const isRecorded of [true, true, false]) await addMedia(place.store, { isRecorded });
  assert.deepEqual(await examineArchive(place), { kind: "unmarked" });
  const { id } = await settleArchive(place);
  assert.equal((await markOf(place)).id, id);
});

test("a database and a store of different archives are refused with a reason, and nothing is written", async () => {
  const other = await newPlace();
  const { id: otherId } = await settleArchive(other);
  await db.deleteFrom("archive_identity").execute();
  const rows: [problem: RegExp, make: () => Promise<Place>][] = [
    [new RegExp(`another archive, ${otherId}: .* is new\\..*DATABASE_URL`), async () => other],
    [
      new RegExp(
        `another archive, ${otherId}: .* belongs to the archive .*adopt --from ${otherId}`,
      ),
      async () => {
        await settleArchive(await newPlace());
        return other;
      },
    ],
    [
      /belongs to the archive .*, but the folder .* \(HLUST_DATA\) has no file hlust-archive/,
      async () => {
        await settleArchive(await newPlace());
        return await newPlace();
      },
    ],
    [
      /is new, or another one: it has no record of the 2 recordings in the folder/,
      async () => {
        const place = await newPlace();
        for (let count = 0; count < 2; count += 1)
          await addMedia(place.store, { isRecorded: false });
        return place;
      },
    ],
    [
      /has no record of most of the 3 recordings/,
      async () => {
        const place = await newPlace();
        for (const isRecorded of [true, false, false]) await addMedia(place.store, { isRecorded });
        return place;
      },
    ],
    [
      /has media, but the folder .* has none/,
      async () => {
        await addMedia((await newPlace()).store, { isRecorded: true });
        return await newPlace();
      },
    ],
  ];
  for (const [message, make] of rows) {
    const place = await make();
    const before = await findArchiveRow(db);
    const mark = await place.store.notes.read("hlust-archive");
    await assert.rejects(settleArchive(place), { message });
    await assert.rejects(
      openServedArchive(place.settings, { db, log, isQuarantined: false, removedDays: 30 }),
      { message },
    );
    assert.deepEqual(await findArchiveRow(db), before);
    assert.equal(await place.store.notes.read("hlust-archive"), mark);
    for (const table of ["archive_identity", "archive_pulse", "media"] as const) {
      await db.deleteFrom(table).execute();
    }
  }
});

test("an unreadable mark is not treated as a new archive", async () => {
  const place = await newPlace();
  await writeFile(join(place.dataFolder, "media/hlust-archive"), "half of");
  await assert.rejects(settleArchive(place), { message: /hlust-archive .* is not valid/ });
});

test("a database that was restored from a dump is in quarantine until it is released", async () => {
  const place = await newPlace();
  const { id } = await settleArchive(place);
  // VACUUM FULL rewrites the table without changing the row.
  await sql`vacuum (full, freeze) archive_identity`.execute(db);
  assert.deepEqual(await reasons(place), []);
  await restoreDump();
  assert.match((await reasons(place)).join(), /^its database was restored from a dump/);
  assert.match((await reasons(place)).join(), /dump/, "examining does not end the quarantine");
  await releaseArchive(place);
  assert.deepEqual(await reasons(place), []);
  assert.equal((await settleArchive(place)).id, id);
});

test("a copy of the data folder is in quarantine, but a renamed data folder is not", async () => {
  const place = await newPlace();
  await settleArchive(place);
  const moved = `${place.dataFolder}-moved`;
  await rename(place.dataFolder, moved);
  assert.deepEqual(await reasons(await newPlace(moved)), []);
  const copy = `${place.dataFolder}-copy`;
  await cp(moved, copy, { recursive: true });
  const copied = await newPlace(copy);
  assert.match((await reasons(copied)).join(), /folder of HLUST_DATA, .*-copy, is a copy/);
  // With DATABASE_URL the folder does not identify the database.
  const settings = { ...copied.settings, database: { url: "postgres://db/hlust" } };
  assert.deepEqual(await reasons({ ...copied, settings }), []);
});

test("media that moved from a folder to a bucket is in quarantine until the move is accepted", async () => {
  const place = await newPlace();
  await settleArchive(place);
  const s3 = {
    bucket: "media",
    prefix: "hlust/",
    endpoint: undefined,
    publicEndpoint: undefined,
    region: "us-east-1",
    key: undefined,
    presigns: true,
  };
  const moved = { ...place, settings: { ...place.settings, s3 } };
  assert.match((await reasons(moved)).join(), /media was in disk and is in s3:media\/hlust\/ now/);
  await releaseArchive(moved);
  assert.deepEqual(await reasons(moved), []);
});

test("an operator puts an archive in quarantine so that a copy of it starts in quarantine", async () => {
  const place = await newPlace();
  await assert.rejects(quarantineArchive(place), { message: /no service has started/ });
  await settleArchive(place);
  await quarantineArchive(place);
  const state = await archiveState(place);
  assert.equal(state.problem, undefined);
  assert.match(
    state.quarantine.join(),
    /^it was put in quarantine at 20.* \(hlust archive quarantine\)$/,
  );
  await releaseArchive(place);
  assert.deepEqual((await archiveState(place)).quarantine, []);
});

test("adoptMedia() joins a refused database and media store, and joins another service's media only by its id", async () => {
  const [place, other] = [await newPlace(), await newPlace()];
  const { id: otherId } = await settleArchive(other);
  for (const table of ["archive_identity", "archive_pulse"] as const) {
    await db.deleteFrom(table).execute();
  }
  const { id } = await settleArchive(place);
  assert.equal(await adoptMedia(place, undefined), undefined);
  const moved = { ...other, settings: place.settings };
  for (const from of [undefined, newId(), id]) {
    await assert.rejects(adoptMedia(moved, from), { message: /another archive/ });
  }
  assert.equal(await adoptMedia(moved, otherId), id);
  assert.equal((await markOf(other)).id, id);
  assert.deepEqual(await reasons(moved), []);
});

test("adoptMedia() assigns a new database to the archive of its media, and keeps a copy in quarantine", async () => {
  const place = await newPlace();
  const { id } = await settleArchive(place);
  await db.deleteFrom("archive_identity").execute();
  await db.deleteFrom("archive_pulse").execute();
  assert.match((await archiveState(place)).problem ?? "", /another archive/);
  assert.equal(await adoptMedia(place, undefined), id);
  assert.deepEqual(await reasons(place), []);
  await rm(join(place.dataFolder, "media/hlust-archive"));
  await restoreDump();
  assert.equal(await adoptMedia(place, undefined), id);
  assert.match((await reasons(place)).join(), /it was put in quarantine/);
});

test("nodes with the same folder share one pulse, and a node with a copy of the folder reports the copy", async () => {
  const place = await newPlace();
  await settleArchive(place);
  const copy = `${place.dataFolder}-copy`;
  await cp(place.dataFolder, copy, { recursive: true });
  const copied = await newPlace(copy);
  // The folder alone does not identify an external database, and this node never writes the pulse.
  const settings = { ...copied.settings, database: { url: "postgres://db/hlust" } };
  const pulseMs = { checkEveryMs: 20, writeEveryMs: 3_600_000 };
  const parts = { db, log, isQuarantined: false, removedDays: 30, pulseMs };
  await using apart = await openServedArchive(settings, parts);
  assert.equal(apart.quarantine, undefined);
  assert.deepEqual(await apart.ping(), {});
  const often = { log, checkEveryMs: 20, writeEveryMs: 60 };
  await using one = openArchivePulse({ ...place, ...often });
  await using two = openArchivePulse({ ...place, ...often });
  let reported = "";
  await until(async () => {
    await apart.ping().catch((error: unknown) => {
      reported = String(error);
    });
    return reported !== "";
  });
  assert.match(reported, /^ServiceError: this is not the media store that the other nodes use/);
  const then = await pulse();
  await until(async () => (await pulse()) > then + 5);
  assert.deepEqual([one.problem, two.problem], [undefined, undefined]);
  // A start while the other nodes run is refused. If they do not run, the media was restored from a
  // backup.
  const start = async () => await openServedArchive(settings, parts);
  await assert.rejects(start(), { message: /is a copy of the media store that other nodes/ });
  for (const each of [one, two]) await each[Symbol.asyncDispose]();
  await db
    .updateTable("archive_pulse")
    .set({ at: new Date(Date.now() - 3_600_000) })
    .execute();
  await using restored = await start();
  assert.match(restored.quarantine ?? "", /^its database was used without this media store/);
});

test("a database that lost its last commits continues, but a database restored from a backup does not", async () => {
  const place = await newPlace();
  await settleArchive(place);
  const own = await pulse();
  const [beat] = JSON.parse((await place.store.notes.read("hlust-pulse")) ?? "");
  const note = async (...pulses: object[]) =>
    await place.store.notes.replace("hlust-pulse", JSON.stringify(pulses));
  const often = { log, checkEveryMs: 10, writeEveryMs: 10 };

  // This is the state after a failover to a standby that is a second behind: the missing pulses are
  // never written.
  await note({ number: own + 1, nonce: newId(), at: Date.now() - 3_600_000 }, beat);
  assert.deepEqual(await reasons(place), []);
  {
    await using _beating = openArchivePulse({ ...place, ...often });
    await until(async () => (await pulse()) > own);
  }

  // Another database writes the pulse.
  await db.updateTable("archive_pulse").set({ number: own, nonce: beat.nonce }).execute();
  const foreign = { number: own + 1, nonce: newId(), at: Date.now() + 3_600_000 };
  await note(foreign, beat);
  {
    await using ours = openArchivePulse({ ...place, ...often });
    await note({ ...foreign, number: own + 9 });
    await until(async () => ours.problem !== undefined);
    assert.match(ours.problem ?? "", /^another database writes to this media store/);
    assert.equal(await pulse(), own);
  }
  assert.match((await reasons(place)).join(), /its media store was used without this database/);
  await releaseArchive(place);
  assert.deepEqual(await reasons(place), []);
});

test("nothing is deleted, swept or set aside in quarantine, and the reason is reported", async () => {
  const place = await newPlace();
  await settleArchive(place);
  const [recorded, unknown] = [
    await addMedia(place.store, { isRecorded: true }),
    await addMedia(place.store, { isRecorded: false }),
  ];
  const parts = { db, log, removedDays: 30 };
  await using archive = await openServedArchive(place.settings, { ...parts, isQuarantined: true });
  assert.equal(archive.quarantine, "it was requested (--quarantine)");
  assert.deepEqual(await archive.ping(), { quarantine: archive.quarantine });
  await archive.store.delete(recorded);
  await archive.store.removed.add(unknown);
  const kept = await Array.fromAsync(archive.store.list(), ({ id }) => id);
  assert.deepEqual(kept.toSorted(), [recorded, unknown].toSorted());
});

async function pulse(): Promise<number> {
  const row = await db.selectFrom("archive_pulse").select("number").executeTakeFirst();
  return Number(row?.number);
}
