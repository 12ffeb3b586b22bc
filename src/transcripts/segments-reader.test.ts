import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { create, toBinary } from "@bufbuild/protobuf";
import { longSegments } from "../../test/fixtures/long-transcript.ts";
import {
  CreateTranscriptRequestSchema,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { LongMessage } from "../std/long-messages.ts";
import { ServiceError } from "../std/service-error.ts";
import { lazyPathOf } from "../transcoding/lazy-path.ts";
import { packSegments, segmentsFromJson } from "./segments.ts";
import { openSegmentsReader, type SegmentsReader } from "./segments-reader.ts";
import { sentSegments } from "./sent-segments.ts";
import { cpuSlowness } from "../../test/fixtures/cpu-slowness.ts";

const { signal } = new AbortController();
const by = { accountId: "one", signal };
const path = lazyPathOf(TranscriptSchema)?.names ?? [];

const json = (text: string, isStrict = true): LongMessage => ({
  bytes: new Uint8Array(Buffer.from(text)),
  format: "json",
  path,
  isStrict,
});

/**
 * Returns the result of a reader: the rest of the message, and the segments that the method gets.
 */
async function read(reader: SegmentsReader, message: LongMessage, accountId = "one") {
  const { rest, attach } = await reader.shorten(message, { accountId, signal });
  const transcript = create(TranscriptSchema);
  attach(transcript);
  return { rest: Buffer.from(rest), sent: sentSegments(transcript) };
}

test("a reader packs segments of every format like packSegments()", async () => {
  await using reader = openSegmentsReader();
  const segments = longSegments(2_000);
  const messages = segmentsFromJson(JSON.parse(JSON.stringify(segments)));
  const packed = await packSegments(messages);
  const transcript = { name: "n", segments: messages };
  const text = JSON.stringify({ segments, uri: "u" });
  const rows: [string, LongMessage, rest: unknown][] = [
    ["JSON", json(text), '{"segments":[],"uri":"u"}'],
    [
      "JSON in another form",
      json(text.replaceAll("startTime", "start_time")),
      '{"segments":[],"uri":"u"}',
    ],
    [
      "the binary form",
      {
        bytes: toBinary(
          CreateTranscriptRequestSchema,
          create(CreateTranscriptRequestSchema, { transcript }),
        ),
        format: "binary",
        path: lazyPathOf(CreateTranscriptRequestSchema)?.names ?? [],
        isStrict: false,
      },
      Buffer.from(
        toBinary(
          CreateTranscriptRequestSchema,
          create(CreateTranscriptRequestSchema, { transcript: { name: "n" } }),
        ),
      ).toString(),
    ],
  ];
  for (const [name, message, rest] of rows) {
    const found = await read(reader, message);
    assert.equal(found.rest.toString(), rest, name);
    const pack = await found.sent.pack();
    assert.deepEqual([pack.sha256, pack.jsonBytes], [packed.sha256, packed.jsonBytes], name);
    assert.equal(message.bytes.length, 0, `${name}: the bytes are taken`);
  }
});

/** A segment with 200,001 empty words. */
function manyWords(): Uint8Array {
  const words = new Uint8Array(400_002).fill(0x1a).map((byte, at) => (at % 2 ? 0 : byte));
  return new Uint8Array([0x1a, 0x82, 0xb5, 0x18, ...words]);
}

test("a reader reports violations", async () => {
  await using reader = openSegmentsReader();
  const violations = async (text: string) => [...(await read(reader, json(text))).sent.violations];
  assert.deepEqual(await violations('{"segments":[{"start_time":"1s","end_time":"2s"}]}'), []);
  assert.deepEqual(await violations('{"segments":[{"startTime":"1s"}]}'), [
    { field: "segments[0].endTime", description: 'is required, for example "1.500s"' },
  ]);
  const rows: [message: LongMessage, refusal: string][] = [
    [
      json('{"segments":[{]}'),
      'not valid JSON at line 1, column 15: expected a name in double quotes, found "]}"',
    ],
    [json('{"segments":[{"x":1}]}'), "segments[0].x: Segment has no such field"],
    [
      json(`{"segments":[],${'"uri":"u",'.repeat(10_000)}"x":1}`),
      "body: has more than 10000 values",
    ],
    [
      json(`{"segments":[],"uri":"${"u".repeat(1 << 20)}"}`),
      "body: has more than 1048576 bytes besides segments",
    ],
    [json(`{"segments":[${"{},".repeat(20_000)}{}`), "segments: has more than 20000 segments"],
    [
      json(`{"segments":[[${"{},".repeat(500_000)}`),
      "the JSON has more than 500000 objects and lists",
    ],
    [
      {
        ...json(""),
        bytes: new Uint8Array(42_000).fill(0x1a).map((byte, at) => (at % 2 ? 0 : byte)),
        format: "binary",
      },
      "segments: has more than 20000 segments",
    ],
    [
      { ...json(""), bytes: manyWords(), format: "binary" },
      "segments: has more words in total; at most 200000 are allowed",
    ],
    [
      { ...json(""), bytes: new Uint8Array([0x1a, 9]), format: "binary" },
      "body: is not a binary Protobuf message",
    ],
  ];
  for (const [message, refusal] of rows) {
    await assert.rejects(reader.shorten(message, by), (error) => {
      assert.ok(error instanceof ServiceError && error.code === "invalid_argument", String(error));
      assert.equal(error.message.slice(0, refusal.length), refusal);
      return true;
    });
  }
  assert.deepEqual(
    [
      ...(await read(reader, json('{"segments":[{"startTime":"0s","endTime":"1s","x":1}]}', false)))
        .sent.violations,
    ],
    [],
  );
  const whole = await reader.shorten(json('{"segments":null}'), by);
  assert.equal(Buffer.from(whole.rest).toString(), '{"segments":null}');
});

test("accounts take turns at a reader, and an account that sends too many messages is refused", async () => {
  await using reader = openSegmentsReader({ waitingOfOne: 3 });
  const list = JSON.stringify({ segments: longSegments(20_000) });
  const ended: string[] = [];
  const one = async (account: string) => {
    await read(reader, json(list), account);
    ended.push(account);
  };
  const flood = Array.from({ length: 4 }, () => one("many"));
  const refused = one("many");
  const other = one("other");
  await assert.rejects(refused, { code: "resource_exhausted", reason: "TRANSCRIPTS_BUSY" });
  await Promise.all([...flood, other]);
  assert.ok(
    ended.indexOf("other") <= 2,
    `the other account's message is read in its turn: ${ended.join()}`,
  );
});

test("segments in another form delay only one another", async () => {
  await using reader = openSegmentsReader();
  const segments = longSegments(40_000);
  const slow = JSON.stringify({ segments }).replaceAll("startTime", "start_time");
  const ended: string[] = [];
  const one = async (name: string, text: string) => {
    await read(reader, json(text), name);
    ended.push(name);
  };
  const flood = ["a", "b", "c"].map(async (name) => await one(name, slow));
  const quick = one("quick", JSON.stringify({ segments: segments.slice(0, 100) }));
  await Promise.all([...flood, quick]);
  assert.equal(ended[0], "quick");
});

test(
  "a reader keeps working after its thread has ended, idle or busy",
  { timeout: 60_000 * cpuSlowness },
  async () => {
    await using reader = openSegmentsReader();
    const list = JSON.stringify({ segments: longSegments(20_000) });
    const next = async (): Promise<Worker> => {
      const [worker]: Worker[] = await once(process, "worker");
      assert.ok(worker);
      return worker;
    };
    const started = next();
    await read(reader, json(list));
    const first = await started;
    await first.terminate();

    const startedAgain = next();
    const [lost, queued] = [read(reader, json(list)), read(reader, json(list))];
    const ended = assert.rejects(lost, /has ended/);
    await (await startedAgain).terminate();
    await ended;
    await queued;
  },
);
