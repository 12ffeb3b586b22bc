import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import type { MediaStore } from "../src/media/media-store.ts";
import { newId } from "../src/std/ids.ts";
import { ServiceError } from "../src/std/service-error.ts";

type Open = () => Promise<{ readonly store: MediaStore } & AsyncDisposable>;

const limit = { bytesMax: 1_000_000 };

/** Bytes that differ from place to place, as `size` / 1000 chunks. */
function sample(size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => (index * 7 + (index >> 8)) & 0xff));
}

/** A million bytes that are like no other million. */
function numbered(index: number): Buffer {
  const bytes = Buffer.alloc(1_000_000, index);
  for (let at = 0; at < bytes.length; at += 1000) bytes.writeUInt32BE(index * 1000 + at, at);
  return bytes;
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* cutChunks(): AsyncGenerator<Uint8Array> {
  yield sample(5000);
  throw new Error("cut");
}

async function listed(store: MediaStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of store.list()) ids.push(id);
  return ids.toSorted();
}

/** What every MediaStore does. `open` gives an empty one. */
export function mediaStoreConformance(name: string, open: Open): void {
  test(`${name}: put() keeps the bytes and tells size, type and, where it knows it, the hash`, async () => {
    await using opened = await open();
    const { store } = opened;
    const wav = Buffer.concat([Buffer.from("RIFF\x24\0\0\0WAVEfmt "), sample(10_000)]);
    for (const [bytes, chunk, contentType] of [
      [wav, 1, "audio/wav"],
      [sample(100_000), 999, "application/octet-stream"],
      [Buffer.alloc(0), 1, "application/octet-stream"],
    ] as const) {
      const id = newId();
      const stored = await store.put(id, chunksOf(bytes, chunk), limit);
      const { sha256, ...known } = stored;
      assert.deepEqual(known, { sizeBytes: bytes.length, contentType });
      if (sha256) assert.deepEqual(sha256, createHash("sha256").update(bytes).digest());
      assert.deepEqual(await buffer(await store.open(id)), bytes);
      assert.equal(await store.sizeBytes(id), bytes.length);
    }
  });

  test(`${name}: open() reads a range`, async () => {
    await using opened = await open();
    const { store } = opened;
    const bytes = sample(300_000);
    const id = newId();
    await store.put(id, chunksOf(bytes, 64_000), limit);
    for (const [start, end] of [
      [0, 0],
      [0, 299_999],
      [1, 1],
      [65_535, 262_145],
      [299_999, 299_999],
    ] as const) {
      const read = await buffer(await store.open(id, { start, end }));
      assert.deepEqual(read, bytes.subarray(start, end + 1), `${start}-${end}`);
    }
  });

  test(`${name}: put() keeps what is larger than it holds at a time, in its order`, async () => {
    await using opened = await open();
    const { store } = opened;
    const bytes = Buffer.concat(Array.from({ length: 20 }, (_, index) => numbered(index)));
    const id = newId();
    const stored = await store.put(id, chunksOf(bytes, 100_003), { bytesMax: bytes.length });
    assert.equal(stored.sizeBytes, bytes.length);
    assert.ok((await buffer(await store.open(id))).equals(bytes));
    const [start, end] = [8 * 2 ** 20 - 5, 16 * 2 ** 20 + 5];
    const read = await buffer(await store.open(id, { start, end }));
    assert.ok(read.equals(bytes.subarray(start, end + 1)));
    await store.delete(id);
    assert.deepEqual(await listed(store), []);
  });

  test(`${name}: openChunks(), where there is one, reads like open()`, async () => {
    await using opened = await open();
    const { store } = opened;
    if (!store.openChunks) return;
    const bytes = sample(3_000_000);
    const id = newId();
    await store.put(id, chunksOf(bytes, 64_000), { bytesMax: bytes.length });
    for (const [start, end] of [
      [0, 0],
      [0, 2_999_999],
      [1_000_000, 2_999_998],
      [524_287, 524_288],
    ] as const) {
      const parts: Buffer[] = [];
      // A chunk's memory is used again for a later one.
      for await (const chunk of await store.openChunks(id, { start, end })) {
        parts.push(Buffer.from(chunk));
      }
      assert.deepEqual(Buffer.concat(parts), bytes.subarray(start, end + 1), `${start}-${end}`);
    }
    await assert.rejects(store.openChunks(newId(), { start: 0, end: 0 }), { code: "not_found" });
    const pastTheEnd = await store.openChunks(id, { start: 0, end: bytes.length });
    await assert.rejects(Array.fromAsync(pastTheEnd), /ends at 3000000/);
  });

  test(`${name}: open() throws not_found for what there is not`, async () => {
    await using opened = await open();
    const { store } = opened;
    await assert.rejects(store.open(newId()), { name: "ServiceError", code: "not_found" });
    assert.equal(await store.sizeBytes(newId()), undefined);
  });

  test(`${name}: put() keeps exactly bytesMax, and nothing past it`, async () => {
    await using opened = await open();
    const { store } = opened;
    const id = newId();
    await assert.rejects(store.put(id, chunksOf(sample(1001), 100), { bytesMax: 1000 }), {
      name: "ServiceError",
      httpStatus: 413,
    });
    assert.equal(await store.sizeBytes(id), undefined);
    assert.deepEqual(await listed(store), []);
    await store.put(id, chunksOf(sample(1000), 100), { bytesMax: 1000 });
    assert.equal(await store.sizeBytes(id), 1000);
  });

  test(`${name}: put() keeps nothing when its source fails`, async () => {
    await using opened = await open();
    const { store } = opened;
    const id = newId();
    await assert.rejects(store.put(id, cutChunks(), limit), { message: "cut" });
    assert.equal(await store.sizeBytes(id), undefined);
    assert.deepEqual(await listed(store), []);
  });

  test(`${name}: put() ends at its signal while the source hangs, and keeps nothing`, async () => {
    await using opened = await open();
    const { store } = opened;
    const id = newId();
    const stop = new AbortController();
    const hanging = async function* (): AsyncGenerator<Uint8Array> {
      yield sample(5000);
      setImmediate(() => {
        stop.abort(new ServiceError("cancelled", "stopped"));
      });
      await new Promise(() => {});
    };
    const put = store.put(id, hanging(), { ...limit, signal: stop.signal });
    await assert.rejects(put, { code: "cancelled" });
    assert.deepEqual(await listed(store), []);
  });

  test(`${name}: put() holds no more in memory than it is writing`, async () => {
    await using opened = await open();
    const mebibyte = 2 ** 20;
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const large = async function* (): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < 256; index += 1) {
        yield Buffer.alloc(mebibyte, index);
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
    };
    const { signal } = new AbortController();
    await opened.store.put(newId(), large(), { bytesMax: 256 * mebibyte, signal });
    assert.ok(most < 160 * mebibyte, `${most / mebibyte} MiB`);
  });

  test(`${name}: put() takes what comes at once for many ids`, async () => {
    await using opened = await open();
    const { store } = opened;
    const ids = Array.from({ length: 20 }, () => newId());
    const puts = ids.map(
      async (id, index) => await store.put(id, chunksOf(sample(index * 1000), 333), limit),
    );
    await Promise.all(puts);
    for (const [index, id] of ids.entries()) assert.equal(await store.sizeBytes(id), index * 1000);
    assert.deepEqual(await listed(store), ids.toSorted());
  });

  test(`${name}: delete() deletes, once or more`, async () => {
    await using opened = await open();
    const { store } = opened;
    const [kept, gone] = [newId(), newId()];
    for (const id of [kept, gone]) await store.put(id, chunksOf(sample(10), 10), limit);
    await store.delete(gone);
    await store.delete(gone);
    await store.delete(newId());
    await assert.rejects(store.open(gone), { code: "not_found" });
    assert.deepEqual(await listed(store), [kept]);
    await store.ping();
  });

  test(`${name}: removed.add() takes media out of sight, and putBack() brings it back whole`, async () => {
    await using opened = await open();
    const { store } = opened;
    const [kept, gone] = [newId(), newId()];
    for (const id of [kept, gone]) await store.put(id, chunksOf(sample(10), 10), limit);
    const before = Date.now();
    for (const id of [gone, gone, newId()]) await store.removed.add(id);
    assert.deepEqual(await listed(store), [kept]);
    await assert.rejects(store.open(gone), { code: "not_found" });
    assert.equal(await store.sizeBytes(gone), undefined);
    const [removed, ...others] = await Array.fromAsync(store.removed.list());
    assert.deepEqual([removed?.id, others], [gone, []]);
    // Stores tell whole seconds.
    assert.ok(Math.abs((removed?.removedAt.getTime() ?? 0) - before) < 60_000);

    for (const [id, isBack] of [
      [gone, true],
      [gone, false],
      [kept, false],
      [newId(), false],
    ] as const) {
      assert.equal(await store.removed.putBack(id), isBack);
    }
    assert.deepEqual(await listed(store), [kept, gone].toSorted());
    assert.deepEqual(await buffer(await store.open(gone)), sample(10));
    assert.deepEqual(await Array.fromAsync(store.removed.list()), []);

    // As a kill in the middle of a move leaves it.
    await store.removed.add(gone);
    await store.put(gone, chunksOf(sample(10), 10), limit);
    assert.equal(await store.removed.putBack(gone), false);
    assert.deepEqual(await Array.fromAsync(store.removed.list()), []);
    assert.deepEqual(await listed(store), [kept, gone].toSorted());

    await store.removed.add(gone);
    for (const id of [gone, gone, kept]) await store.removed.delete(id);
    assert.deepEqual(await Array.fromAsync(store.removed.list()), []);
    assert.deepEqual(await listed(store), [kept]);
  });

  test(`${name}: a note is created once, read and replaced, and is no media`, async () => {
    await using opened = await open();
    const { notes } = opened.store;
    assert.equal(await notes.read("hlust-archive"), undefined);
    const texts = ["one", "two", "three"];
    const created = await Promise.all(
      texts.map(async (text) => await notes.create("hlust-archive", text)),
    );
    assert.equal(created.filter(Boolean).length, 1);
    assert.equal(await notes.read("hlust-archive"), texts[created.indexOf(true)]);
    assert.equal(await notes.create("hlust-archive", "four"), false);
    await notes.replace("hlust-archive", "five");
    await notes.replace("hlust-pulse", "six");
    assert.equal(await notes.read("hlust-archive"), "five");
    assert.equal(await notes.read("hlust-pulse"), "six");
    assert.deepEqual(await listed(opened.store), []);
    assert.deepEqual(await Array.fromAsync(opened.store.removed.list()), []);
  });

  test(`${name}: ids that are no UUID are refused`, async () => {
    await using opened = await open();
    const { store } = opened;
    for (const id of ["", "..", "../../etc/passwd", `${newId()}/x`]) {
      await assert.rejects(store.open(id), /UUID/, id);
      await assert.rejects(store.put(id, chunksOf(sample(1), 1), limit), /UUID/, id);
      await assert.rejects(store.removed.add(id), /UUID/, id);
      await assert.rejects(store.removed.putBack(id), /UUID/, id);
      await assert.rejects(store.removed.delete(id), /UUID/, id);
    }
  });
}
