import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mediaStoreConformance } from "../../test/fixtures/media-store-conformance.ts";
import { partialMediaConformance } from "../../test/fixtures/partial-media-conformance.ts";
import { createLog } from "../std/log.ts";
import { newId } from "../std/ids.ts";
import { openDiskStore } from "./disk-store.ts";

const log = createLog("silent");

async function makeFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "hlust-media-"));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
}

mediaStoreConformance("disk", async () => {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(await makeFolder());
  const store = opened.use(await openDiskStore(join(folder.path, "media"), { log }));
  return { store, [Symbol.asyncDispose]: async () => await opened.disposeAsync() };
});

partialMediaConformance("disk", async () => {
  const opened = new AsyncDisposableStack();
  const folder = opened.use(await makeFolder());
  const again = async () => await openDiskStore(join(folder.path, "media"), { log });
  const store = opened.use(await again());
  return { store, again, [Symbol.asyncDispose]: async () => await opened.disposeAsync() };
});

async function leftovers(folder: string): Promise<string[]> {
  return await readdir(join(folder, "unfinished"));
}

async function* hundredBytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(100);
}

test("a put() that fails leaves no file behind", async () => {
  await using folder = await makeFolder();
  await using store = await openDiskStore(folder.path, { log });
  await assert.rejects(store.put(newId(), hundredBytes(), { bytesMax: 10 }), { httpStatus: 413 });
  assert.deepEqual(await leftovers(folder.path), []);
});

test("openDiskStore() immediately removes unfinished files of a killed process, but not those of a running process", async () => {
  await using folder = await makeFolder();
  await using store = await openDiskStore(folder.path, { log });
  const finish = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = async function* () {
    yield Buffer.from("first ");
    begun.resolve();
    await finish.promise;
    yield Buffer.from("last");
  };
  const id = newId();
  const put = store.put(id, slow(), { bytesMax: 100 });
  await begun.promise;

  const child = spawn(
    process.execPath,
    ["--input-type=module", "--eval", hangingPut(folder.path)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  await new Promise((resolve) => child.stdout.once("data", resolve));
  assert.equal((await leftovers(folder.path)).length, 2);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;

  await using again = await openDiskStore(folder.path, { log });
  assert.equal((await leftovers(folder.path)).length, 1);
  finish.resolve();
  assert.equal((await put).sizeBytes, 10);
  assert.equal(await again.sizeBytes(id), 10);
});

/** Returns a program that prints a line while it is in the middle of a put. */
function hangingPut(folder: string): string {
  const url = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
  return `
    const { openDiskStore } = await import(${url("disk-store.ts")});
    const { createLog } = await import(${url("../std/log.ts")});
    const store = await openDiskStore(${JSON.stringify(folder)}, { log: createLog("silent") });
    const endless = async function* () {
      yield Buffer.alloc(1000);
      console.log("writing");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    };
    await store.put(${JSON.stringify(newId())}, endless(), { bytesMax: 1e6 });
  `;
}

test("openDiskStore() removes unfinished files of an unknown process within an hour", async () => {
  await using folder = await makeFolder();
  await (await openDiskStore(folder.path, { log }))[Symbol.asyncDispose]();
  const now = Date.now();
  for (const [name, ageMs] of [
    ["old", 46 * 60_000],
    ["young", 44 * 60_000],
  ] as const) {
    const file = join(folder.path, "unfinished", `${name}.unknown-1`);
    await writeFile(file, "x");
    await utimes(file, new Date(now - ageMs), new Date(now - ageMs));
  }
  await using _store = await openDiskStore(folder.path, { log, now: () => now });
  assert.deepEqual(await leftovers(folder.path), ["young.unknown-1"]);
});
