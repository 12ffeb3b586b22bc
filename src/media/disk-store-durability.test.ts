// Counts the pages of a file that are not on the disk yet. Until all pages are on the disk, the put
// must not resolve and the file must not have its final name.
import assert from "node:assert/strict";
import { existsSync, watch } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { unsyncedBytes } from "../../test/fixtures/page-cache.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { openDiskStore } from "./disk-store.ts";

const size = 48_000_000;
let folder: string;
let isReported = false;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-durable-"));
  const file = join(folder, "unsynced");
  await writeFile(file, Buffer.alloc(size));
  // The count is not available before Linux 6.5 or on in-memory file systems.
  isReported = (unsyncedBytes(file) ?? 0) > 0;
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function* recording(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += 64_000) yield Buffer.alloc(64_000, at);
}

test("a recording gets its final name only when all of it is on the disk", async (context) => {
  if (!isReported) {
    context.skip("the kernel does not report unsynced pages");
    return;
  }
  await using store = await openDiskStore(join(folder, "media"), { log: createLog("silent") });
  const [first, id] = twoOfOneFolder();
  await store.put(first, recording(), { bytesMax: size });
  const within = join(folder, "media", "finished", id.slice(-2));
  const file = join(within, id);
  const seen = Promise.withResolvers<number | undefined>();
  watch(within, { persistent: false }, () => {
    if (existsSync(file)) seen.resolve(unsyncedBytes(file));
  });
  await store.put(id, recording(), { bytesMax: size });
  assert.equal(unsyncedBytes(file), 0, "when put() resolves");
  assert.equal(await seen.promise, 0, "unsynced bytes when the name exists");
});

/** Returns two ids whose files are in the same folder. */
function twoOfOneFolder(): [string, string] {
  const first = newId();
  for (;;) {
    const other = newId();
    if (other.slice(-2) === first.slice(-2)) return [first, other];
  }
}
