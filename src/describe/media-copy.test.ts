import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { openWorkerFixture, type WorkerFixture } from "../../test/fixtures/worker-fixture.ts";
import type { MediaStore } from "../media/media-store.ts";
import { openMediaCopy } from "./media-copy.ts";
import { prepareScratchFolder } from "./scratch-file.ts";

let fixture: WorkerFixture;
before(async () => {
  fixture = await openWorkerFixture();
  await prepareScratchFolder(fixture.jobs.scratchFolder);
});
after(() => fixture[Symbol.asyncDispose]());

const never = new AbortController().signal;

function copyParts() {
  const { database, store, scratchFolder } = fixture.jobs;
  return { db: database.db, store, scratchFolder };
}

async function addUnread(bytes: Buffer): Promise<string> {
  return await fixture.jobs.addMedia(fixture.account, bytes);
}

async function sha256Of(mediaId: string): Promise<Buffer | null | undefined> {
  const { db } = fixture.jobs.database;
  const rows = db.selectFrom("media").where("id", "=", mediaId).select("sha256");
  return (await rows.executeTakeFirst())?.sha256;
}

/** A store that sends these chunks and then stalls, as if its network connection were cut. */
function hangingStore(...chunks: readonly string[]) {
  const bytes = new Readable({ read() {} });
  for (const chunk of chunks) bytes.push(chunk);
  const store: Pick<MediaStore, "open"> = { open: async () => bytes };
  return { bytes, store };
}

test("the first copy of media determines its hash, unless some of its bytes are lost", async () => {
  const bytes = Buffer.alloc(300_000, 7);
  const [whole, cut] = [await addUnread(bytes), await addUnread(bytes)];
  const { db } = fixture.jobs.database;
  await db.updateTable("media").set({ size_bytes: 300_001 }).where("id", "=", cut).execute();
  for (const mediaId of [whole, cut]) {
    assert.equal(await sha256Of(mediaId), null);
    await using copy = await openMediaCopy(copyParts(), mediaId, never);
    assert.ok((await readFile(copy.path)).equals(bytes));
  }
  assert.deepEqual(await sha256Of(whole), createHash("sha256").update(bytes).digest());
  assert.equal(await sha256Of(cut), null);
});

test("a copy ends with its signal, even before its first byte and while the store hangs, and leaves nothing open", async () => {
  const mediaId = await addUnread(Buffer.from("sound"));
  for (const { chunks, afterMs } of [
    { chunks: [], afterMs: undefined },
    { chunks: ["so"], afterMs: 20 },
  ]) {
    const { bytes, store } = hangingStore(...chunks);
    const signal = afterMs === undefined ? AbortSignal.abort() : AbortSignal.timeout(afterMs);
    await assert.rejects(openMediaCopy({ ...copyParts(), store }, mediaId, signal), {
      name: "AbortError",
    });
    assert.equal(bytes.destroyed, true);
  }
  assert.deepEqual(await readdir(fixture.jobs.scratchFolder), []);
});

test("a store that stalls counts as unavailable", async () => {
  const mediaId = await addUnread(Buffer.from("sound"));
  const { bytes, store } = hangingStore("so");
  const copying = openMediaCopy({ ...copyParts(), store, stallMsMax: 20 }, mediaId, never);
  await assert.rejects(copying, { code: "unavailable", reason: "STORAGE_UNAVAILABLE" });
  assert.equal(bytes.destroyed, true);
  assert.deepEqual(await readdir(fixture.jobs.scratchFolder), []);
});
