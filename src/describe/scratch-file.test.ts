import assert from "node:assert/strict";
import fs, { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openScratchFile } from "./scratch-file.ts";

test("a copy that ends while its file is still being created leaves no file, however slow the disk is", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-scratch-"));
  t.after(() => rm(folder, { recursive: true }));
  const { promise: called, resolve: onCall } = Promise.withResolvers<void>();
  const { promise: made, resolve: onMade } = Promise.withResolvers<void>();
  const { open } = fs;
  const late: typeof open = async (...file) => {
    onCall();
    await sleep(100);
    const handle = await open(...file);
    onMade();
    return handle;
  };
  t.mock.method(fs, "open", late);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const bytes = new Readable({ read() {} });
  bytes.push("so");
  const ending = new AbortController();
  const copying = openScratchFile(folder, bytes, { signal: ending.signal });
  await called;
  ending.abort();
  await assert.rejects(copying, { name: "AbortError" });
  await made;
  assert.deepEqual(await readdir(folder), []);
});

test("a chunk is freed once it is written, and before the next one is written", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-scratch-"));
  t.after(() => rm(folder, { recursive: true }));
  const events: string[] = [];
  const chunks = ["so", "be", "it"].map((text) => Buffer.from(text));
  const parts = async function* () {
    yield* chunks;
  };
  const bytes = Readable.from(parts(), { objectMode: false, highWaterMark: 1 });
  await using file = await openScratchFile(folder, bytes, {
    signal: new AbortController().signal,
    onChunk: (chunk) => events.push(`read ${Buffer.from(chunk).toString()}`),
    free(chunk) {
      events.push(`freed ${Buffer.from(chunk).toString()}`);
      chunk.fill(0);
    },
  });
  assert.equal(await readFile(file.path, "utf8"), "sobeit");
  assert.deepEqual(
    events,
    ["so", "be", "it"].flatMap((text) => [`read ${text}`, `freed ${text}`]),
  );
});
