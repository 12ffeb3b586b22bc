import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import {
  bytesOfSamples,
  type FrameKind,
  FrameWriter,
  jsonPayload,
  samplesOfBytes,
} from "./engine-frames.ts";
import { FrameReader } from "./frame-reader.ts";

const kinds: readonly FrameKind[] = ["open", "audio", "close", "received", "error"];

test("FrameReader reads the output of FrameWriter, in chunks of any length", () => {
  const frames = fc.array(
    fc.record(
      {
        kind: fc.constantFrom(...kinds),
        session: fc.integer({ min: 0, max: 0xffff_ffff }),
        payload: fc.uint8Array({ maxLength: 40 }),
      },
      { noNullPrototype: true },
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 50 }), (sent, chunkLength) => {
      const pipe = new PassThrough();
      const writer = new FrameWriter(pipe);
      for (const { kind, session, payload } of sent) {
        const reused = payload.slice();
        writer.write(kind, session, reused);
        reused.fill(0);
      }
      writer.flush();
      const written: unknown = pipe.read();
      const bytes = Buffer.isBuffer(written) ? written : Buffer.alloc(0);
      const reader = new FrameReader();
      const read = [];
      for (let at = 0; at < bytes.length; at += chunkLength) {
        for (const frame of reader.push(bytes.subarray(at, at + chunkLength))) {
          read.push({ ...frame, payload: new Uint8Array(frame.payload) });
        }
      }
      assert.deepEqual(read, sent);
    }),
  );
});

test("FrameReader copies the frame that is split between two chunks, and no other", () => {
  const frame = (session: number) => {
    const pipe = new PassThrough();
    const writer = new FrameWriter(pipe);
    writer.write("audio", session, Buffer.alloc(10, session));
    writer.flush();
    const written: unknown = pipe.read();
    assert.ok(Buffer.isBuffer(written));
    return written;
  };
  const [first, split, last] = [frame(1), frame(2), frame(3)];
  const reader = new FrameReader();
  // Each chunk has memory of its own.
  const chunks = [
    [first, split.subarray(0, 15)],
    [split.subarray(15), last],
  ].map((parts) => Buffer.from(new Uint8Array(Buffer.concat(parts)).buffer));
  const views = chunks.flatMap((chunk) =>
    [...reader.push(chunk)].map(({ session, payload }) => [
      session,
      payload.buffer === chunk.buffer,
      [...payload].every((byte) => byte === session) && payload.length === 10,
    ]),
  );
  assert.deepEqual(views, [
    [1, true, true],
    [2, false, true],
    [3, true, true],
  ]);
});

test("FrameWriter sends the frames of one turn of the event loop in one write", async () => {
  const pipe = new PassThrough();
  const writer = new FrameWriter(pipe);
  const writes: Buffer[] = [];
  pipe.on("data", (chunk: Buffer) => writes.push(chunk));
  const first = new Promise((resolve) => pipe.once("data", resolve));
  for (let session = 1; session <= 100; session++) writer.write("audio", session, Buffer.alloc(10));
  await first;
  assert.equal(writes.length, 1);
  assert.equal(writes[0]?.length, 100 * 22);
});

test("jsonPayload() reads the requested kind of frame and rejects others", () => {
  const payload = Buffer.from(JSON.stringify(800));
  assert.equal(jsonPayload("received", { kind: "received", session: 1, payload }), 800);
  assert.throws(() => jsonPayload("ready", { kind: "received", session: 1, payload }), /not ready/);
});

test("samplesOfBytes() is the inverse of bytesOfSamples() for any part of a buffer", () => {
  const samples = Int16Array.of(0, 1, -1, 32_767, -32_768, 7);
  const part = samples.subarray(1, 5);
  const bytes = Buffer.concat([Buffer.alloc(3), bytesOfSamples(part)]).subarray(3);
  assert.deepEqual(samplesOfBytes(bytes), part);
});

test("FrameReader rejects bytes that are not a frame", () => {
  for (const [length, kind] of [
    [0, 99],
    [100, 99],
    [0x7fff_ffff, 1],
  ] as const) {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32LE(length, 0);
    bytes.writeUInt32LE(kind, 8);
    assert.throws(() => [...new FrameReader().push(bytes)], /are not a frame/);
    // A header that is split between chunks is checked as soon as it is complete.
    const reader = new FrameReader();
    assert.deepEqual([...reader.push(bytes.subarray(0, 11))], []);
    assert.throws(() => [...reader.push(bytes.subarray(11))], /are not a frame/);
  }
});
