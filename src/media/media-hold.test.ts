import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { sql } from "kysely";
import { openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { until } from "../../test/fixtures/until.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { deleteDeferred, holdMedia, isMediaHeld, withHolds } from "./media-hold.ts";
import { deleteBytes } from "./media-records.ts";
import { sweepMedia } from "./sweep-media.ts";

const app = await openTestTranscripts();
after(() => app[Symbol.asyncDispose]());
const { db } = app;
const log = createLog("silent");
const store = withHolds(app.store, { db, log });

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function putBytes(): Promise<string> {
  const id = newId();
  await store.put(id, bytesOf(id), { bytesMax: 100 });
  return id;
}

const idsOf = async (media: AsyncIterable<{ readonly id: string }>): Promise<string[]> =>
  (await Array.fromAsync(media, ({ id }) => id)).toSorted();

beforeEach(async () => {
  await sql`truncate media_hold, deferred_deletion`.execute(db);
  for await (const { id } of store.list()) await store.delete(id);
  for await (const { id } of store.removed.list()) await store.removed.delete(id);
});

describe("a hold", () => {
  it("defers deletions of media until it is released", async () => {
    const [first, second] = [await putBytes(), await putBytes()];
    {
      await using hold = await holdMedia(db);
      assert.ok(await isMediaHeld(db));
      await deleteBytes({ store, log }, [first, first], "transcript_deleted");
      await deleteDeferred({ db, store: app.store, log });
      assert.deepEqual(await idsOf(store.list()), [first, second].toSorted());
      await hold.confirm();
    }
    assert.equal(await isMediaHeld(db), false);
    await deleteDeferred({ db, store: app.store, log });
    assert.deepEqual(await idsOf(store.list()), [second]);
    assert.equal((await db.selectFrom("deferred_deletion").selectAll().execute()).length, 0);
    await deleteBytes({ store, log }, [second], "transcript_deleted");
    assert.deepEqual(await idsOf(store.list()), []);
  });

  it("keeps removed media, and media without a record, where they are", async () => {
    const [removed, unrecorded] = [await putBytes(), await putBytes()];
    await store.removed.add(removed);
    await using _hold = await holdMedia(db);
    await store.removed.add(unrecorded);
    await store.removed.delete(removed);
    assert.deepEqual(await idsOf(store.removed.list()), [removed]);
    assert.deepEqual(await idsOf(store.list()), [unrecorded]);
  });

  it("ends by itself, and does not confirm what happened after that", async () => {
    await using hold = await holdMedia(db, { leaseMs: 200, renewEveryMs: 600_000 });
    await until(async () => !(await isMediaHeld(db)));
    await assert.rejects(hold.confirm(), /the hold on deletions of media expired/);
    await using other = await holdMedia(db);
    await other.confirm();
  });

  it("is renewed for as long as it is open", async () => {
    await using hold = await holdMedia(db, { leaseMs: 20_000, renewEveryMs: 20 });
    const untilOf = async () => {
      const row = await db.selectFrom("media_hold").select("held_until").executeTakeFirstOrThrow();
      return row.held_until.getTime();
    };
    const first = await untilOf();
    await until(async () => (await untilOf()) > first + 100);
    await hold.confirm();
  });
});

describe("a sweep", () => {
  it("does not set aside media whose deletion was deferred", async () => {
    const [deferred, unrecorded] = [await putBytes(), await putBytes()];
    {
      await using _hold = await holdMedia(db);
      await store.delete(deferred);
    }
    const later = () => Date.now() + 3_600_000;
    assert.equal(await sweepMedia({ db, store: app.store, log, now: later }), 1);
    assert.deepEqual(await idsOf(store.removed.list()), [unrecorded]);
    assert.deepEqual(await idsOf(store.list()), [deferred]);
  });
});
