import assert from "node:assert/strict";
import { after, test } from "node:test";
import { create, toJson } from "@bufbuild/protobuf";
import {
  metadataWith,
  openTestTranscripts,
  segmentsOf,
  textOf,
} from "../../test/fixtures/open-test-transcripts.ts";
import {
  SegmentSchema,
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadata_FileType as FileType,
  TranscriptSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { setFacts } from "../media/media-facts.ts";
import { durationFromMs } from "../std/duration.ts";
import { isId, newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { insertTranscript } from "./insert-transcript.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { client, db } = app;

const notFound = { name: "ServiceError", code: "not_found" };

/** Returns names that do not belong to any transcript of this account. */
async function strangeNames(): Promise<string[]> {
  const foreign = await app.clientFor(await app.newAccount()).create({ metadata: metadataWith() });
  return [
    foreign,
    `transcripts/${newId()}`,
    "transcripts/",
    "transcripts/x",
    "",
    `transcripts/${"x".repeat(8000)}`,
    "transcripts/00000000-0000-0000-0000-000000000000' or true --",
  ];
}

test("createTranscript() stores the fields that callers may write, and getTranscript() returns them", async () => {
  const name = await client.create({
    name: "transcripts/mine",
    uri: "http://evil/",
    version: { name: "v" },
    metadata: metadataWith({
      fileType: FileType.VIDEO,
      languageCode: "en-US",
      subject: "Fundur um <b>'veður'",
      description: "\\ % _ \u{1F3A7}",
      keywords: ["a", "b", "a"],
      additionalMetadata: { ["__proto__"]: "x", constructor: "y", "": "z" },
      speakers:
        create(TranscriptSchema, { metadata: { speakers: { S1: { fullName: "Þóra" } } } }).metadata
          ?.speakers ?? {},
      originalSource: { case: "dictation", value: true },
      waveformUri: "http://evil/",
      recordingDuration: durationFromMs(1000),
      dataSource: DataSource.URI,
      originalCharLength: 7,
      originalByteLength: 8,
    }),
    segments: segmentsOf("Halló ", "heimur."),
  });
  assert.match(name, /^transcripts\//);
  assert.ok(isId(name.slice("transcripts/".length)));
  const transcript = await client.get(name);
  assert.ok(transcript.version && isId(transcript.version.name));
  assert.equal(transcript.version.parent, "");
  assert.ok(transcript.version.creationTime);
  assert.equal(transcript.name, name);
  assert.equal(transcript.uri, "");
  assert.equal(textOf(transcript), "Halló heimur.");
  assert.ok(transcript.metadata);
  assert.deepEqual(toJson(TranscriptSchema, transcript), {
    name,
    metadata: {
      fileType: "VIDEO",
      languageCode: "en-US",
      subject: "Fundur um <b>'veður'",
      description: "\\ % _ \u{1F3A7}",
      keywords: ["a", "b", "a"],
      additionalMetadata: JSON.parse('{"__proto__": "x", "constructor": "y", "": "z"}'),
      speakers: { S1: { fullName: "Þóra" } },
      dictation: true,
      dataSource: "USER",
    },
    segments: segmentsOf("Halló ", "heimur.").map((segment) => toJson(SegmentSchema, segment)),
    version: toJson(TranscriptSchema, transcript, {})["version"],
  });
});

test("createTranscript() reports every violation, and stores nothing", async () => {
  const count = async () => (await client.list({ pageSize: 1000 })).transcripts.length;
  const before = await count();
  await assert.rejects(client.create({ segments: [{ words: [] }] }), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, "invalid_argument");
    assert.deepEqual(
      error.violations.map(({ field }) => field),
      [
        "metadata.fileType",
        "metadata.languageCode",
        "segments[0].startTime",
        "segments[0].endTime",
      ],
    );
    return true;
  });
  assert.equal(await count(), before);
});

test("every method returns the same error for malformed names as for names that do not exist", async () => {
  for (const name of await strangeNames()) {
    const version = `${name}/versions/${newId()}`;
    await assert.rejects(client.get(name), notFound, name);
    await assert.rejects(client.update({ name, metadata: { subject: "x" } }), notFound, name);
    await assert.rejects(client.delete(name), notFound, name);
    await assert.rejects(client.versions({ parent: name }), notFound, name);
    await assert.rejects(client.version(version), notFound, name);
    await assert.rejects(client.restore(name, newId()), notFound, name);
    if (name.startsWith("transcripts/")) {
      await assert.rejects(client.initUpload(name), notFound, name);
    }
  }
  await assert.rejects(client.initUpload("jobs/x"), { code: "invalid_argument" });
});

test("updateTranscript() changes the named fields and creates a version", async () => {
  const name = await client.create({
    metadata: metadataWith({ subject: "old", keywords: ["k"], description: "d" }),
    segments: segmentsOf("one"),
  });
  const first = await client.get(name);
  const second = await client.update(
    { name, metadata: { subject: "new", description: "ignored" } },
    "metadata.subject",
  );
  assert.equal(second.metadata?.subject, "new");
  assert.equal(second.metadata.description, "d");
  assert.deepEqual(second.metadata.keywords, ["k"]);
  assert.equal(textOf(second), "one");
  assert.equal(second.version?.parent, first.version?.name);
  const third = await client.update({ name, segments: segmentsOf("two ", "three") }, "segments");
  assert.equal(textOf(third), "two three");
  assert.equal(third.metadata?.subject, "new");
  assert.equal(third.version?.parent, second.version?.name);
  const fourth = await client.update({ name }, "segments", "metadata.keywords");
  assert.deepEqual([textOf(fourth), fourth.metadata?.keywords], ["", []]);
  assert.deepEqual(await client.get(name), fourth);
});

test("a transcript that was fetched can be edited and sent back", async () => {
  const { id } = await db.transaction().execute(
    async (trx) =>
      await insertTranscript(trx, {
        accountId: app.accountId,
        metadata: metadataWith({
          originalSource: { case: "originalUri", value: "https://example.com/a.mp3" },
          dataSource: DataSource.URI,
          recordingDuration: durationFromMs(61_500),
        }),
        segments: segmentsOf("Þá ", "🎧"),
        kind: "RECOGNIZED",
      }),
  );
  const fetched = await client.get(`transcripts/${id}`);
  assert.deepEqual(
    [fetched.metadata?.originalCharLength, fetched.metadata?.originalByteLength],
    [4, 9],
  );
  const changed = structuredClone(fetched);
  assert.ok(changed.metadata);
  Object.assign(changed.metadata, { subject: "edited", originalUri: "x", originalCharLength: 1 });
  changed.segments = segmentsOf("other");
  const answer = await client.update(changed);
  assert.equal(answer.metadata?.subject, "edited");
  assert.equal(answer.metadata.originalSource.value, "https://example.com/a.mp3");
  assert.deepEqual(answer.metadata.recordingDuration, durationFromMs(61_500));
  assert.equal(answer.metadata.originalCharLength, 4);
  assert.equal(textOf(answer), "other");
});

test("a fileType that is sent back with other fields before media is described sets nothing, but a fileType sent alone does", async () => {
  for (const [edit, shown] of [
    [{ subject: "edited" }, FileType.VIDEO],
    [undefined, FileType.AUDIO],
  ] as const) {
    const name = await client.create({ metadata: metadataWith() });
    const id = name.replace("transcripts/", "");
    const begun = await app.uploads.begin(app.accountId, id);
    assert.ok(begun);
    await app.uploads.receive(begun.id, oneByte(), { bytesMax: 1 });
    const { metadata } = await client.get(name);
    assert.equal(
      metadata?.fileType,
      FileType.AUDIO,
      "as set by the caller: the media is not described yet",
    );
    await client.update(
      { name, metadata: edit ? { ...metadata, ...edit } : metadataWith() },
      ...(edit ? [] : ["metadata.fileType"]),
    );
    const { media_id: mediaId } = await db
      .selectFrom("transcript")
      .where("id", "=", id)
      .select("media_id")
      .executeTakeFirstOrThrow();
    assert.ok(mediaId !== null);
    await db
      .transaction()
      .execute((trx) => setFacts(trx, mediaId, { durationMs: 1_000, fileType: "VIDEO" }));
    assert.equal((await client.get(name)).metadata?.fileType, shown);
  }
});

async function* oneByte() {
  yield new Uint8Array(1);
}

test("updateTranscript() refuses the same values as createTranscript() in changed fields", async () => {
  const name = await client.create({ metadata: metadataWith() });
  const before = await client.get(name);
  const rows: [update: Parameters<typeof client.update>, fields: string[]][] = [
    [[{ name }], ["metadata", "segments"]],
    [[{ name, uri: "x" }, "uri"], ["updateMask"]],
    [[{ name }, "metadata.file_type"], ["metadata.fileType"]],
    [[{ name, metadata: { languageCode: "_" } }], ["metadata.languageCode"]],
    [
      [{ name }, "owner", "metadata.x"],
      ["updateMask", "updateMask"],
    ],
    [[{ name, segments: [{ speakerId: "a" }] }], ["segments[0].startTime", "segments[0].endTime"]],
  ];
  for (const [update, fields] of rows) {
    await assert.rejects(client.update(...update), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(
        error.violations.map(({ field }) => field),
        fields,
      );
      return true;
    });
  }
  assert.deepEqual(await client.get(name), before);
});

test("deleteTranscript() deletes versions and segments too", async () => {
  const name = await client.create({ metadata: metadataWith(), segments: segmentsOf("x") });
  await client.update({ name, segments: segmentsOf("y") });
  await client.initUpload(name);
  await client.delete(name);
  const id = name.slice("transcripts/".length);
  for (const table of ["transcript_version", "transcript_segments", "upload"] as const) {
    const rows = await db.selectFrom(table).where("transcript_id", "=", id).selectAll().execute();
    assert.deepEqual(rows, [], table);
  }
  await assert.rejects(client.get(name), notFound);
  await assert.rejects(client.delete(name), notFound);
  await assert.rejects(client.update({ name, metadata: { subject: "x" } }), notFound);
});
