import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ModifySegmentsRequestSchema } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { lazyPathOf } from "../transcoding/lazy-path.ts";
import type { LongMessage } from "../std/long-messages.ts";
import { longSegments } from "../../test/fixtures/long-transcript.ts";
import { readChanges, type ChangesRead } from "./check-changes.ts";
import { openSegmentsReader, type SegmentsReader } from "./segments-reader.ts";
import { sentChanges } from "./sent-segments.ts";

const by = { accountId: "one", signal: new AbortController().signal };
const path = lazyPathOf(ModifySegmentsRequestSchema)?.names ?? [];

const json = (text: string): LongMessage => ({
  bytes: new Uint8Array(Buffer.from(text)),
  format: "json",
  path,
  isStrict: true,
});

async function read(
  reader: SegmentsReader,
  message: LongMessage,
): Promise<{ rest: string; sent: ChangesRead }> {
  const { rest, attach } = await reader.shorten(message, by);
  const request = create(ModifySegmentsRequestSchema);
  attach(request);
  return { rest: Buffer.from(rest).toString(), sent: sentChanges(request) };
}

test("a reader reads changes of every form like readChanges()", async () => {
  await using reader = openSegmentsReader();
  const segments = longSegments(2_000);
  const changes = [
    { startIndex: 0, endIndex: 3, segments: segments.slice(0, 40) },
    { startIndex: 7, endIndex: 7, segments: segments.slice(40) },
    { startIndex: 9, endIndex: 12, segments: [] },
  ];
  const request = fromJson(ModifySegmentsRequestSchema, { changes });
  const expected = readChanges(request.changes);
  assert.ok("changes" in expected);
  assert.deepEqual(
    expected.changes.map(({ segments }) => segments),
    [40, 60, 0],
  );
  const text = JSON.stringify({ changes, note: "n" });
  const rows: [string, LongMessage][] = [
    ["JSON", json(text)],
    ["JSON in another form", json(text.replaceAll("startIndex", "start_index"))],
    ["indices as texts", json(text.replace('"startIndex":7', '"startIndex":"7"'))],
  ];
  for (const [name, message] of rows) {
    const { rest, sent } = await read(reader, message);
    assert.equal(rest, '{"changes":[],"note":"n"}', name);
    assert.deepEqual(sent, expected, name);
  }
  const bytes = toBinary(ModifySegmentsRequestSchema, request);
  const binary = await read(reader, { bytes, format: "binary", path, isStrict: false });
  assert.deepEqual([binary.rest, binary.sent], ["", expected]);
});

test("a reader reports the violations of changes", async () => {
  await using reader = openSegmentsReader();
  const rows: [text: string, fields: string[]][] = [
    ['{"changes":[{"endIndex":1},{"startIndex":0}]}', ["changes[1].startIndex"]],
    ['{"changes":[{},{},{"segments":[{"endTime":"1s"}]}]}', ["changes[2].segments[0].startTime"]],
    [
      '{"changes":[{"segments":[{"startTime":"0s","endTime":"1s","words":[{"word":"a"}]}]}]}',
      ["startTime", "endTime"].map((name) => `changes[0].segments[0].words[0].${name}`),
    ],
  ];
  for (const [text, fields] of rows) {
    const { sent } = await read(reader, json(text));
    assert.ok("violations" in sent, text);
    assert.deepEqual(
      sent.violations.map(({ field }) => field),
      fields,
    );
  }
  const refused: [text: string, words: RegExp][] = [
    [`{"changes":[${"{},".repeat(20_000)}{}]}`, /: changes: has more than 20000 changes/],
    ['{"changes":[{"startIndex":1.5}]}', /changes\[0\]\.startIndex.*1\.5/],
    ['{"changes":[{"words":[]}]}', /changes\[0\]\.words: SegmentsChange has no such field/],
    ['{"changes":[{]}', /not valid JSON/],
  ];
  for (const [text, words] of refused) await assert.rejects(read(reader, json(text)), words, text);
});
