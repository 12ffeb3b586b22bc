import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { openScratchFile } from "./scratch-file.ts";

test("a copy that ends while its file is still being created leaves no file, however slow the disk is", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-scratch-"));
  t.after(() => rm(folder, { recursive: true }));
  const { promise: called, resolve: onCall } = Promise.withResolvers<void>();
  const { promise: made, resolve: onMade } = Promise.withResolvers<void>();
  const { open } = fs;
  type Opened = Parameters<typeof open>[1];
  const late = (path: string, flags: string, mode: number, callback: Opened): void => {
    onCall();
    const openNow = (): void => {
      open(path, flags, mode, (...answer) => {
        callback(...answer);
        onMade();
      });
    };
    setTimeout(openNow, 100);
  };
  t.mock.method(fs, "open", late);
  const bytes = new Readable({ read() {} });
  bytes.push("so");
  const ending = new AbortController();
  const copying = openScratchFile(folder, bytes, { signal: ending.signal, onChunk() {} });
  await called;
  ending.abort();
  await assert.rejects(copying, { name: "AbortError" });
  await made;
  assert.deepEqual(await readdir(folder), []);
});
