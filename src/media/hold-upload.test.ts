import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { until } from "../../test/fixtures/until.ts";
import { newId } from "../std/ids.ts";
import { holdUpload } from "./hold-upload.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db } = app;

async function newUpload(): Promise<string> {
  return (await app.uploads.begin(app.accountId, null))?.id ?? "";
}

test("one call at a time holds an upload, and a later one takes it over", async () => {
  const id = await newUpload();
  const first = await holdUpload(db, id);
  let isSecond = false;
  const waiting = holdUpload(db, id).then((hold) => {
    isSecond = true;
    return hold;
  });
  await until(async () => first.signal.aborted);
  assert.equal(first.signal.reason.reason, "UPLOAD_TAKEN_OVER");
  assert.equal(isSecond, false);
  await first[Symbol.asyncDispose]();
  await using second = await waiting;
  assert.equal(second.signal.aborted, false);
});

test("the latest of several calls that wait gets the upload", async () => {
  const id = await newUpload();
  const first = await holdUpload(db, id);
  const waiting = Array.from({ length: 5 }, async () => await holdUpload(db, id));
  const settled = Promise.allSettled(waiting);
  await until(async () => first.signal.aborted);
  await first[Symbol.asyncDispose]();
  const ends = await settled;
  const held = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  assert.equal(held.length, 1);
  for (const end of ends) {
    if (end.status === "rejected") assert.equal(end.reason.reason, "UPLOAD_TAKEN_OVER");
  }
  await held[0]?.[Symbol.asyncDispose]();
});

test("a hold is extended while its call is alive, and ends 10 s after its process died", async () => {
  const id = await newUpload();
  const since = performance.now();
  const dead = db
    .updateTable("upload")
    .set({ writer: newId(), holder: newId(), held_until: new Date(Date.now() + 10_000) });
  await dead.where("id", "=", id).execute();
  await using hold = await holdUpload(db, id);
  const waitedMs = performance.now() - since;
  assert.ok(waitedMs > 9_000 && waitedMs < 15_000, `${waitedMs} ms`);
  const read = async () =>
    await db.selectFrom("upload").where("id", "=", id).select("held_until").executeTakeFirst();
  const before = (await read())?.held_until?.getTime() ?? 0;
  await until(async () => ((await read())?.held_until?.getTime() ?? 0) > before);
  assert.equal(hold.signal.aborted, false);
});

test("the hold of an upload that is deleted is lost, and an upload that is absent cannot be held", async () => {
  const id = await newUpload();
  await using hold = await holdUpload(db, id);
  await db.deleteFrom("upload").where("id", "=", id).execute();
  await until(async () => hold.signal.aborted);
  await assert.rejects(holdUpload(db, id), { code: "not_found" });
});

test("a call that waits ends when its signal aborts", async () => {
  const id = await newUpload();
  await using _first = await holdUpload(db, id);
  const reason = new Error("gone");
  await assert.rejects(holdUpload(db, id, AbortSignal.abort(reason)), reason);
});
