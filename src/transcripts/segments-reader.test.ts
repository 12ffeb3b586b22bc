import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { zstdDecompressSync } from "node:zlib";
import { longSegments } from "../../test/long-transcript.ts";
import { ServiceError } from "../std/service-error.ts";
import { packSegments, segmentsFromJson } from "./segments.ts";
import { openSegmentsReader } from "./segments-reader.ts";

/** Segments as the door leaves them. */
function unreadOf(list: string) {
  const before = '{"segments":';
  const json = new Uint8Array(Buffer.from(`${before}${list}}`));
  return { json, start: before.length, end: json.length - 1 };
}

test("a reader packs segments as packSegments() does, and takes the bytes", async () => {
  await using reader = openSegmentsReader();
  const segments = longSegments(2_000);
  const unread = unreadOf(JSON.stringify(segments));
  const read = await reader.read(unread);
  assert.ok("jsonZstd" in read);
  const packed = await packSegments(segmentsFromJson(JSON.parse(JSON.stringify(segments))));
  assert.deepEqual(Buffer.from(read.sha256), packed.sha256);
  assert.ok(Buffer.from(read.json).equals(zstdDecompressSync(packed.jsonZstd)));
  assert.ok(zstdDecompressSync(read.jsonZstd).equals(Buffer.from(read.json)));
  assert.equal(unread.json.length, 0);
});

test("a reader reads what the scanner leaves, and tells what is wrong", async () => {
  await using reader = openSegmentsReader();
  const rows: [list: string, answer: object][] = [
    ['[{"start_time":"1s","end_time":"2s"}]', {}],
    [
      '[{"startTime":"1s"}]',
      {
        violations: [
          { field: "segments[0].endTime", description: 'is required, for example "1.500s"' },
        ],
      },
    ],
    [
      "[{]",
      {
        refused: {
          code: "invalid_argument",
          message:
            'not valid JSON at line 1, column 15: expected a name in double quotes, found "]}"',
          reason: "MALFORMED_JSON",
          violations: [],
        },
      },
    ],
    [
      String.raw`[],"\u0073egments":[]`,
      {
        refused: {
          code: "invalid_argument",
          message: "segments: is given twice",
          reason: "INVALID_ARGUMENT",
          violations: [{ field: "segments", description: "is given twice" }],
        },
      },
    ],
  ];
  for (const [list, answer] of rows) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const read = await reader.read(unreadOf(list));
    if ("json" in read) assert.deepEqual(answer, {}, list);
    else assert.deepEqual(read, answer, list);
  }
});

test("a reader refuses more than it may have waiting, but never a single body", async () => {
  await using reader = openSegmentsReader({ bytesMax: 100 });
  const list = JSON.stringify(longSegments(20));
  const first = reader.read(unreadOf(list));
  await assert.rejects(reader.read(unreadOf(list)), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, "resource_exhausted");
    assert.ok(error.retryAfterMs !== undefined && error.retryAfterMs > 0);
    return true;
  });
  assert.ok("json" in (await first));
  assert.ok("json" in (await reader.read(unreadOf(list))), "there is room again");
});

test(
  "a reader reads on when its thread has ended, idle or at work",
  { timeout: 60_000 },
  async () => {
    await using reader = openSegmentsReader();
    const list = JSON.stringify(longSegments(20_000));
    const next = async (): Promise<Worker> => {
      const [worker]: Worker[] = await once(process, "worker");
      assert.ok(worker);
      return worker;
    };
    const started = next();
    assert.ok("json" in (await reader.read(unreadOf(list))));
    const first = await started;
    await first.terminate();

    const startedAgain = next();
    const [lost, queued] = [reader.read(unreadOf(list)), reader.read(unreadOf(list))];
    const ended = assert.rejects(lost, /has ended/);
    await (await startedAgain).terminate();
    await ended;
    assert.ok("json" in (await queued), "what waits behind it is read");
  },
);
