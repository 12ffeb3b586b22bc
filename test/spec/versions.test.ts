// What versions say about themselves (extension): how they were made, by whom, and a note.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { newId } from "../../src/std/ids.ts";
import { addSignedIn } from "../fixtures/signed-in.ts";
import { fieldsOf } from "./jobs.ts";
import { openStoredService } from "./stored-service.ts";
import { callRest, type Answer } from "./service.ts";
import { draftOf, segmentOf } from "./transcripts.ts";

const stored = await openStoredService();
const { service, db } = stored;
const { account_id: accountId, id: keyId } = await db
  .selectFrom("api_key")
  .select(["id", "account_id"])
  .executeTakeFirstOrThrow();
after(() => stored[Symbol.asyncDispose]());

const key = { author: `apiKeys/${keyId}`, authorName: "First key" };

/** What a version says about itself, without its ids and its time. */
const originOf = ({ kind, author, authorName, note }: Record<string, unknown>) => {
  return { kind, author, authorName, note };
};

async function create(): Promise<string> {
  const { json } = await service.call("POST", "/v1alpha1/transcripts", draftOf("Útgáfur"));
  return `/v1alpha1/${json.name}`;
}

test("every way to make a version records its kind, its author and its note", async () => {
  const path = await create();
  const { json: first } = await service.call("GET", path);
  assert.deepEqual(originOf(first.version), { kind: "IMPORTED", ...key, note: "" });
  const subject = { metadata: { subject: "Nýtt" } };
  const segments = { segments: [segmentOf("góðan daginn ")] };
  const restore = { version: first.version.name, note: "Aftur í byrjun" };
  const rows: [answer: Answer, kind: string, note: string][] = [
    [await service.call("PATCH", path, subject), "EDITED", ""],
    [await service.call("PATCH", `${path}?note=Lesi%C3%B0`, segments), "EDITED", "Lesið"],
    [await service.call("PATCH", `${path}?merged=true&note=a`, subject), "MERGED", "a"],
    [await service.call("POST", `${path}:restore`, restore), "RESTORED", restore.note],
  ];
  const origins = rows.map(([answer, kind, note]) => {
    assert.equal(answer.status, 200);
    assert.deepEqual(originOf(answer.json.version), { kind, ...key, note });
    return { kind, ...key, note };
  });
  const { json: list } = await service.call("GET", `${path}/versions`);
  assert.deepEqual(
    list.versions.map(originOf),
    [originOf(first.version), ...origins].toReversed(),
    "ListTranscriptVersions",
  );
  const { json: transcripts } = await service.call("GET", "/v1alpha1/transcripts?pageSize=1");
  assert.deepEqual(originOf(transcripts.transcripts[0].version), origins.at(-1));
  const { json: file } = await service.call("GET", `${path}:export?format=JSON`);
  assert.deepEqual(originOf(file.version), origins.at(-1), "ExportTranscript");
  const { json: old } = await service.call("GET", `${path}?version=${first.version.name}`);
  assert.deepEqual(originOf(old.version), originOf(first.version));
  await service.call("DELETE", path);
});

test("an import is IMPORTED by its caller", async () => {
  const { json } = await service.call("POST", "/v1alpha1/transcripts:import", {
    metadata: { fileType: "AUDIO", languageCode: "is-IS" },
    content: "1\n00:00:00,000 --> 00:00:01,000\nJá\n",
  });
  const { json: read } = await service.call("GET", `/v1alpha1/${json.name}`);
  assert.deepEqual(originOf(read.version), { kind: "IMPORTED", ...key, note: "" });
  await service.call("DELETE", `/v1alpha1/${json.name}`);
});

test("the name of an author is the present one, and is gone when the member is removed", async () => {
  const path = await create();
  const { memberId, headers } = await addSignedIn(db, accountId, "MEMBER");
  const rename = async (name: string) =>
    await db.updateTable("member").set({ display_name: name }).where("id", "=", memberId).execute();
  await rename("Anna Jónsdóttir");
  const body = { metadata: { subject: "Frá Önnu" } };
  const call = { method: "PATCH", path: `/console/api${path}`, body, headers };
  const { status, json } = await callRest(service.address, undefined, call);
  assert.equal(status, 200);
  const author = `members/${memberId}`;
  const expected = { kind: "EDITED", author, authorName: "Anna Jónsdóttir", note: "" };
  assert.deepEqual(originOf(json.version), expected);
  const names = async (): Promise<unknown[]> => {
    const { json: list } = await service.call("GET", "/v1alpha1/transcripts?pageSize=1");
    const { json: versions } = await service.call("GET", `${path}/versions`);
    return [list.transcripts[0].version, versions.versions[0]].map(({ author, authorName }) => [
      author,
      authorName,
    ]);
  };
  await rename("Anna Önnudóttir");
  const renamed = [author, "Anna Önnudóttir"];
  assert.deepEqual(await names(), [renamed, renamed]);
  await service.call("DELETE", `/v1/${author}`);
  assert.deepEqual(await names(), [
    [author, ""],
    [author, ""],
  ]);
  await service.call("DELETE", path);
});

test("notes that are too long or invalid are refused, and nothing is stored", async () => {
  const path = await create();
  const { json: before } = await service.call("GET", path);
  const version = before.version.name;
  const long = "ð".repeat(1_001);
  const rows: [note: string, words: RegExp][] = [
    [long, /1001 characters; at most 1000/],
    ["a\0b", /NUL/],
  ];
  for (const [note, words] of rows) {
    const query = `${path}?note=${encodeURIComponent(note)}`;
    for (const answer of [
      await service.call("PATCH", query, { metadata: { subject: "x" } }),
      await service.call("POST", `${path}:restore`, { version, note }),
    ]) {
      assert.equal(answer.status, 400);
      assert.deepEqual(fieldsOf(answer), ["note"]);
      assert.match(JSON.stringify(answer.json), words);
    }
  }
  const most = { version, note: "ð".repeat(1_000) };
  assert.equal((await service.call("POST", `${path}:restore`, most)).status, 200);
  const { json: list } = await service.call("GET", `${path}/versions`);
  assert.equal(list.versions.length, 2);
  await service.call("DELETE", path);
});

test("a version in the query is found by its whole id, and only through its own transcript", async () => {
  const [path, other] = [await create(), await create()];
  const { json: current } = await service.call("GET", path);
  const own = current.version.name;
  const rows: [query: string, status: number][] = [
    ["version=", 200],
    [`version=${own}`, 200],
    [`version=${own.toUpperCase()}`, 404],
    [`version=${own}%20`, 404],
    [`version=${own}%00`, 404],
    [`version=${current.name}/versions/${own}`, 404],
    ["version=x", 404],
    [`version=${newId()}`, 404],
    [`version=${"1".repeat(5_000)}`, 404],
    [`version=${own}&version=${own}`, 400],
    [`version.name=${own}`, 400],
    [`versions=${own}`, 400],
  ];
  for (const [query, status] of rows) {
    const { json, ...answer } = await service.call("GET", `${path}?${query}`);
    assert.equal(answer.status, status, query.slice(0, 80));
    if (status === 200) assert.deepEqual(json, current);
    else assert.ok(json.message.length < 300, "a long value is not sent back");
    if (status === 404) assert.equal(json.details[0].reason, "VERSION_NOT_FOUND");
  }
  const crossed = await service.call("GET", `${other}?version=${own}`);
  assert.deepEqual([crossed.status, crossed.json.details[0].reason], [404, "VERSION_NOT_FOUND"]);
  for (const each of [path, other]) await service.call("DELETE", each);
});
