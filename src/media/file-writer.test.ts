import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { unsyncedBytes } from "../../test/fixtures/page-cache.ts";
import { until } from "../../test/fixtures/until.ts";
import { FileWriter } from "./file-writer.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-writer-"));
});
after(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Returns bytes that differ by position. */
function sample(size: number): Buffer {
  return Buffer.alloc(size, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
}

test("FileWriter writes chunks of any size in order, and syncs them at the end", async () => {
  const bytes = sample(3_000_000);
  for (const [index, chunk] of [3_000_000, 700_000, 65_536, 1000].entries()) {
    const file = join(folder, `sizes-${index}`);
    await using handle = await open(file, "wx");
    await using writer = new FileWriter(handle);
    for (let at = 0; at < bytes.length; at += chunk) {
      await writer.add(bytes.subarray(at, at + chunk));
    }
    await writer.end();
    assert.deepEqual(await readFile(file), bytes, `${chunk}`);
    assert.equal(unsyncedBytes(file) ?? 0, 0);
  }
});

test("FileWriter frees the memory of the chunks that it owns once they are written, and of no other chunks", async () => {
  const file = join(folder, "own");
  const own = [new Uint8Array(600_000).fill(1), new Uint8Array(600_000).fill(2)];
  const shared = Buffer.from(new ArrayBuffer(600_001), 0, 600_000).fill(3);
  const kept = new Uint8Array(600_000).fill(4);
  {
    await using handle = await open(file, "wx");
    await using writer = new FileWriter(handle, { ownsChunks: true });
    for (const chunk of [...own, shared]) await writer.add(chunk);
    await writer.end();
    await using other = new FileWriter(handle);
    await other.add(kept);
    await other.end();
  }
  const bytes = await readFile(file);
  const parts = [1, 2, 3, 4].map((fill) => Buffer.alloc(600_000, fill));
  assert.ok(bytes.equals(Buffer.concat(parts)));
  assert.deepEqual(
    [...own, shared, kept].map(({ length }) => length),
    [0, 0, 600_000, 600_000],
  );
});

test("FileWriter without chunks writes an empty file", async () => {
  const file = join(folder, "empty");
  await using handle = await open(file, "wx");
  await using writer = new FileWriter(handle);
  await writer.end();
  assert.deepEqual(await readFile(file), Buffer.alloc(0));
});

test("FileWriter writes slow input at regular intervals, so that the file's modification time shows that it is in use", async () => {
  const file = join(folder, "slow");
  let ms = 0;
  await using handle = await open(file, "wx");
  await using writer = new FileWriter(handle, { now: () => ms });
  await writer.add(Buffer.from("a"));
  assert.equal((await handle.stat()).size, 0);
  ms = 11_000;
  await writer.add(Buffer.from("b"));
  await until(async () => (await readFile(file, "utf8")) === "ab");
});

test("FileWriter reports a failed write at the next chunk or the end", async () => {
  const file = join(folder, "read-only");
  await (await open(file, "wx")).close();
  await using handle = await open(file, "r");
  for (const size of [10, 600_000]) {
    await using writer = new FileWriter(handle);
    const write = async () => {
      for (let count = 0; count < 3; count += 1) await writer.add(sample(size));
      await writer.end();
    };
    await assert.rejects(write(), { code: "EBADF" });
  }
});
