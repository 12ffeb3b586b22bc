import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  metadataWith,
  openTestTranscripts,
  segmentsOf,
  textOf,
} from "../../test/fixtures/open-test-transcripts.ts";
import { newId } from "../std/ids.ts";

let clock = Date.now;
const app = await openTestTranscripts({ now: () => clock() });
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { client, db } = app;

const notFound = { name: "ServiceError", code: "not_found" };

test("updateTranscript() with If-Match refuses a version other than the current one", async () => {
  const name = await client.create({ metadata: metadataWith() });
  const first = (await client.get(name)).version?.name ?? "";
  const withMatch = (match: string) => app.clientFor(app.accountId, { "if-match": match });
  const good = [(v: string) => v, (v: string) => `"${v}"`, () => "*", (v: string) => `"x", "${v}"`];
  let current = first;
  for (const header of good) {
    const updated = await withMatch(header(current)).update({ name, metadata: { subject: "s" } });
    current = updated.version?.name ?? "";
  }
  for (const header of [first, `"${first}"`, `W/"${current}"`, newId(), "", '"']) {
    for (const call of [
      async () => await withMatch(header).update({ name, metadata: { subject: "lost" } }),
      async () => await withMatch(header).restore(name, first),
    ]) {
      await assert.rejects(call, {
        code: "aborted",
        reason: "VERSION_STALE",
        metadata: { currentVersion: current },
      });
    }
  }
  assert.equal((await client.get(name)).version?.name, current);
});

test("concurrent updates all become versions without losses", async () => {
  const name = await client.create({ metadata: metadataWith(), segments: segmentsOf("x") });
  const updates = Array.from({ length: 20 }, async (_, index) =>
    index % 2 === 0
      ? await client.update({ name, metadata: { additionalMetadata: { [`k${index}`]: "v" } } })
      : await client.update({ name, segments: segmentsOf(`text ${index}`) }),
  );
  updates.push(client.update({ name, metadata: { subject: "subject" } }));
  const answers = await Promise.all(updates);
  const { versions } = await client.versions({ parent: name });
  assert.equal(versions.length, 22);
  for (const [index, version] of versions.entries()) {
    assert.equal(version.parent, versions[index + 1]?.name ?? "");
  }
  const names = new Set(versions.map((version) => version.name));
  for (const answer of answers) assert.ok(names.has(answer.version?.name ?? ""));
  const last = await client.get(name);
  assert.equal(last.version?.name, versions[0]?.name);
  assert.equal(last.metadata?.subject, "subject");
  assert.equal(Object.keys(last.metadata.additionalMetadata).length, 1);
  assert.match(textOf(last), /^text \d+$/);
});

test("only one of several concurrent updates with the same If-Match succeeds", async () => {
  const name = await client.create({ metadata: metadataWith() });
  const current = (await client.get(name)).version?.name ?? "";
  const matching = app.clientFor(app.accountId, { "if-match": current });
  const results = await Promise.allSettled(
    Array.from(
      { length: 10 },
      async (_, index) => await matching.update({ name, metadata: { subject: `${index}` } }),
    ),
  );
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal((await client.versions({ parent: name })).versions.length, 2);
});

test("an update of only metadata copies no segments", async () => {
  const name = await client.create({ metadata: metadataWith(), segments: segmentsOf("x") });
  for (const subject of ["a", "b"]) await client.update({ name, metadata: { subject } });
  await client.update({ name, segments: segmentsOf("y") });
  await client.update({ name, segments: segmentsOf("x") });
  const rows = await db
    .selectFrom("transcript_segments")
    .where("transcript_id", "=", name.slice("transcripts/".length))
    .select("sha256")
    .execute();
  assert.equal(rows.length, 2);
});

test("versions are listed, read and restored", async () => {
  const name = await client.create({
    metadata: metadataWith({ subject: "1" }),
    segments: segmentsOf("one"),
  });
  const first = await client.get(name);
  const second = await client.update({
    name,
    metadata: { subject: "2" },
    segments: segmentsOf("two"),
  });
  const third = await client.update({ name, metadata: { subject: "3", keywords: ["k"] } });
  const page = await client.versions({ parent: name, pageSize: 2 });
  assert.deepEqual(page.versions, [third.version, second.version]);
  const rest = await client.versions({ parent: name, pageToken: page.nextPageToken });
  assert.deepEqual([rest.versions, rest.nextPageToken], [[first.version], ""]);
  await assert.rejects(client.list({ pageToken: page.nextPageToken }), {
    code: "invalid_argument",
  });

  assert.deepEqual(await client.version(`${name}/versions/${first.version?.name}`), first);
  const restored = await client.restore(name, first.version?.name ?? "");
  assert.equal(restored.version?.parent, third.version?.name);
  assert.deepEqual(restored.metadata, first.metadata);
  assert.equal(textOf(restored), "one");
  assert.equal((await client.versions({ parent: name })).versions.length, 4);

  const other = await client.create({ metadata: metadataWith() });
  const foreign = (await client.get(other)).version?.name ?? "";
  for (const version of [foreign, newId(), "", "x"]) {
    await assert.rejects(client.restore(name, version), notFound);
    await assert.rejects(client.version(`${name}/versions/${version}`), notFound);
  }
  assert.equal((await client.versions({ parent: name })).versions.length, 4);
});

test("versions keep their order if the clock stops or is set back", async () => {
  const name = await client.create({ metadata: metadataWith() });
  const start = Date.now();
  try {
    for (let index = 0; index < 12; index += 1) {
      clock = () => start - Math.floor(index / 4) * 1000;
      await client.update({ name, metadata: { subject: `${index}` } });
    }
  } finally {
    clock = Date.now;
  }
  const { versions } = await client.versions({ parent: name });
  assert.equal(versions.length, 13);
  for (const [index, version] of versions.entries()) {
    assert.equal(version.parent, versions[index + 1]?.name ?? "");
  }
});
