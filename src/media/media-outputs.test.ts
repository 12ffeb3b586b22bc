import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "../database/database.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { newId } from "../std/ids.ts";
import {
  DamagedOutputs,
  findOutputs,
  keepOutputs,
  type MediaOutputs,
  readOutputs,
} from "./media-outputs.ts";

let database: Database;
const accountId = newId();
before(async () => {
  database = await openTestDatabase();
  const account = { id: accountId, display_name: "" };
  await database.db.insertInto("account").values(account).execute();
});
after(() => database[Symbol.asyncDispose]());

const model = "is 1 0011";

/** Adds media of three parts, and returns its parts. */
async function addParts(): Promise<readonly MediaOutputs[]> {
  const mediaId = newId();
  await database.db
    .insertInto("media")
    .values({
      id: mediaId,
      account_id: accountId,
      size_bytes: 1,
      sha256: null,
      content_type: "audio/wav",
      duration_ms: 45_500,
    })
    .execute();
  const partOf = (number: number, startMs: number, endMs: number): MediaOutputs => {
    return { mediaId, number, startMs, endMs, model, bytes: Uint8Array.of(number, 2, 3) };
  };
  return [partOf(0, 0, 20_000), partOf(1, 20_000, 40_000), partOf(2, 40_000, 45_500)];
}

async function addKept(): Promise<readonly MediaOutputs[]> {
  const parts = await addParts();
  await keepOutputs(database.db, parts);
  return parts;
}

function mediaOf([part]: readonly MediaOutputs[]): string {
  return part?.mediaId ?? assert.fail();
}

test("parts are read by time, with what they had", async () => {
  const parts = await addKept();
  const outputs = await findOutputs(database.db, mediaOf(parts), model);
  assert.deepEqual(outputs, { mediaId: mediaOf(parts), model, durationMs: 45_500 });
  assert.ok(outputs);
  const rows: readonly [startMs: number, endMs: number, numbers: number[]][] = [
    [0, 45_500, [0, 1, 2]],
    [0, 20_000, [0]],
    [19_999, 20_001, [0, 1]],
    [40_000, 90_000, [2]],
    [45_500, 45_500, []],
  ];
  for (const [startMs, endMs, numbers] of rows) {
    const read = await readOutputs(database.db, outputs, { startMs, endMs });
    assert.deepEqual(
      read.map(({ number }) => number),
      numbers,
      `${startMs} ${endMs}`,
    );
    for (const { bytes, ...part } of read) {
      const { bytes: kept, mediaId: _, ...same } = parts[part.number] ?? assert.fail();
      assert.deepEqual(part, same);
      assert.deepEqual(Uint8Array.from(bytes), kept);
    }
  }
});

test("the same parts are stored once, and those of another model replace them", async () => {
  const parts = await addKept();
  const ids = async () => {
    const of = "select xmin::text as id from media_outputs where media_id = $1 order by number";
    const { rows } = await database.pool.query<{ id: string }>(of, [mediaOf(parts)]);
    return rows.map(({ id }) => id);
  };
  const before = await ids();
  await keepOutputs(database.db, [...parts, ...parts]);
  assert.deepEqual(await ids(), before);
  const other = { ...(parts[1] ?? assert.fail()), model: "is 2 0022" };
  await keepOutputs(database.db, [other]);
  assert.notDeepEqual(await ids(), before);
  assert.equal((await ids()).length, 3);
  for (const each of [model, other.model]) {
    assert.equal(await findOutputs(database.db, mediaOf(parts), each), undefined);
  }
});

test("outputs of another model, or not of the whole recording, are not found", async () => {
  const whole = await addKept();
  assert.equal(await findOutputs(database.db, mediaOf(whole), "is 1 0012"), undefined);
  assert.equal(await findOutputs(database.db, newId(), model), undefined);
  for (const missing of [0, 1, 2]) {
    const parts = await addParts();
    await keepOutputs(database.db, parts.toSpliced(missing, 1));
    assert.equal(await findOutputs(database.db, mediaOf(parts), model), undefined, `${missing}`);
  }
  const [first, second, third] = await addParts();
  assert.ok(first && second && third);
  await keepOutputs(database.db, [first, { ...second, startMs: 20_001 }, third]);
  assert.equal(await findOutputs(database.db, first.mediaId, model), undefined);
  const none = await addParts();
  assert.equal(await findOutputs(database.db, mediaOf(none), model), undefined);
});

test("parts that change or disappear after they were found are refused", async () => {
  const damages = [
    "update media_outputs set outputs = '\\x00' where media_id = $1 and number = 1",
    "update media_outputs set model = 'is 2 0022' where media_id = $1 and number = 1",
    "update media_outputs set end_ms = 39000 where media_id = $1 and number = 1",
    "delete from media_outputs where media_id = $1 and number = 0",
    "delete from media_outputs where media_id = $1 and number = 1",
    "delete from media_outputs where media_id = $1 and number = 2",
    "delete from media where id = $1",
  ];
  for (const damage of damages) {
    const parts = await addKept();
    const outputs = await findOutputs(database.db, mediaOf(parts), model);
    assert.ok(outputs);
    await database.pool.query(damage, [mediaOf(parts)]);
    const section = { startMs: 10_000, endMs: 45_000 };
    await assert.rejects(readOutputs(database.db, outputs, section), DamagedOutputs, damage);
  }
});

test("outputs are deleted with their media, and none are stored for deleted media", async () => {
  const parts = await addKept();
  await database.pool.query("delete from media where id = $1", [mediaOf(parts)]);
  await keepOutputs(database.db, parts);
  const left = await database.pool.query("select from media_outputs where media_id = $1", [
    mediaOf(parts),
  ]);
  assert.equal(left.rowCount, 0);
});
