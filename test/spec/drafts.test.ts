// Drafts (extension): the changes of a member or key that are not saved as a version.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { scopes } from "../../src/auth/caller.ts";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { draftBytesMax } from "../../src/transcripts/draft-methods.ts";
import { removeOldDrafts } from "../../src/transcripts/old-drafts.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { addSignedIn } from "../fixtures/signed-in.ts";
import { noteSecret } from "./secrets.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

const parts = new AsyncDisposableStack();
let service: TestService;
let database: Database;
before(async () => {
  service = parts.use(await openTestService({ HLUST_ENGINE: "scripted" }));
  const folder = join(service.dataFolder, "postgres");
  database = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") }));
});
after(() => parts.disposeAsync());

type Headers = Readonly<Record<string, string>>;

/** A transcript and the calls of one caller about its draft. */
interface Drafts {
  readonly name: string;
  readonly version: string;
  get(query?: string): Promise<Answer>;
  save(text: string | Buffer, headers?: Headers): Promise<Answer>;
  delete(headers?: Headers): Promise<Answer>;
}

async function newTranscript(key = service.key): Promise<{ name: string; version: string }> {
  const call = { method: "POST", path: "/v1alpha1/transcripts", body: draftOf("fundur") };
  const { json: created } = await callRest(service.address, key, call);
  const path = `/v1alpha1/${created.name}`;
  const { json } = await callRest(service.address, key, { method: "GET", path });
  return { name: created.name, version: json.version.name };
}

/** Returns the calls of a key, or of a member with these headers. */
function draftsOf(
  { name, version }: { readonly name: string; readonly version: string },
  { key, ...by }: { readonly key?: string; readonly headers?: Headers } = { key: service.key },
): Drafts {
  const door = key === undefined ? "/console/api" : "";
  const path = `${door}/v1alpha1/${name}/draft`;
  const call = async (method: string, body: unknown, headers?: Headers, query = "") => {
    const call = { method, path: path + query, body, headers: { ...by.headers, ...headers } };
    return await callRest(service.address, key, call);
  };
  return {
    name,
    version,
    get: async (query) => await call("GET", undefined, {}, query),
    async save(text, headers) {
      const content = Buffer.from(text).toString("base64");
      if (content.length < 1_000) noteSecret(content, "text");
      return await call("PUT", { baseVersion: version, content }, headers);
    },
    delete: async (headers) => await call("DELETE", undefined, headers),
  };
}

function assertChanged({ status, json }: Answer, etag: string): void {
  assert.equal(status, 409);
  const [info] = json.error.details;
  assert.deepEqual([info.reason, info.metadata.etag], ["DRAFT_CHANGED", etag]);
}

function reasonOf({ json }: Answer): string {
  return json.error.details[0].reason;
}

function textIn({ json }: Answer): string {
  return Buffer.from(json.content, "base64").toString("utf8");
}

test("a draft is read as it was saved, and replaced by the next save", async () => {
  const drafts = draftsOf(await newTranscript());
  const none = await drafts.get();
  assert.deepEqual([none.status, reasonOf(none)], [404, "DRAFT_NOT_FOUND"]);
  const first = await drafts.save("Góðan dag, þetta eru drög.");
  assert.equal(first.status, 200);
  assert.deepEqual(
    [first.json.name, first.json.baseVersion, first.json.content],
    [`${drafts.name}/draft`, drafts.version, ""],
  );
  const read = await drafts.get();
  assert.equal(textIn(read), "Góðan dag, þetta eru drög.");
  assert.deepEqual({ ...read.json, content: "" }, first.json);
  const second = await drafts.save("Þetta eru nýrri drög.");
  assert.notEqual(second.json.etag, first.json.etag);
  assert.ok(second.json.updateTime > first.json.updateTime);
  assert.equal(textIn(await drafts.get()), "Þetta eru nýrri drög.");
  assert.equal((await drafts.delete()).status, 200);
  assert.equal(reasonOf(await drafts.get()), "DRAFT_NOT_FOUND");
  assert.equal(reasonOf(await drafts.delete()), "DRAFT_NOT_FOUND");
});

test("allowMissing returns a draft that does not exist with its name alone, and others whole", async () => {
  const drafts = draftsOf(await newTranscript());
  const none = await drafts.get("?allowMissing=true");
  assert.equal(none.status, 200);
  const { name, baseVersion, content, etag, updateTime } = none.json;
  assert.deepEqual(
    [name, baseVersion, content, etag, updateTime],
    [`${drafts.name}/draft`, "", "", "", null],
  );
  const { json: saved } = await drafts.save("drög");
  const read = await drafts.get("?allowMissing=true");
  assert.deepEqual([textIn(read), read.json.etag], ["drög", saved.etag]);
  assert.equal((await drafts.delete()).status, 200);
  assert.equal((await drafts.get("?allowMissing=false")).status, 404);
});

test("a draft is saved and deleted only in the state that the headers name", async () => {
  const drafts = draftsOf(await newTranscript());
  assertChanged(await drafts.save("drög", { "if-match": newId() }), "");
  assertChanged(await drafts.save("drög", { "if-match": "*" }), "");
  const { json: first } = await drafts.save("drög", { "if-none-match": "*" });
  assertChanged(await drafts.save("önnur drög", { "if-none-match": "*" }), first.etag);
  assertChanged(await drafts.save("önnur drög", { "if-match": newId() }), first.etag);
  assertChanged(await drafts.save("önnur drög", { "if-match": `W/"${first.etag}"` }), first.etag);
  assert.equal(textIn(await drafts.get()), "drög");
  const { json: second } = await drafts.save("önnur drög", { "if-match": `"${first.etag}"` });
  const { json: third } = await drafts.save("þriðju drög", {
    "if-match": `${first.etag}, ${second.etag}`,
  });
  const { json: fourth } = await drafts.save("fjórðu drög", { "if-match": "*" });
  assert.equal(textIn(await drafts.get()), "fjórðu drög");
  assertChanged(await drafts.delete({ "if-match": third.etag }), fourth.etag);
  assert.equal((await drafts.delete({ "if-match": fourth.etag })).status, 200);
  assert.equal(reasonOf(await drafts.delete({ "if-match": fourth.etag })), "DRAFT_NOT_FOUND");
});

for (const [state, headersOf] of [
  ["no draft", () => ({ "if-none-match": "*" })],
  ["the same draft", (etag: string) => ({ "if-match": etag })],
] as const) {
  test(`one of several clients that know ${state} succeeds, if all save at the same time`, async () => {
    const transcript = await newTranscript();
    const drafts = draftsOf(transcript);
    for (let round = 0; round < 5; round++) {
      const etag = state === "no draft" ? "" : (await drafts.save("upphaf")).json.etag;
      const texts = ["fyrri", "seinni", "þriðji", "fjórði"].map((text) => `${text} ${round}`);
      const answers = await Promise.all(
        texts.map(async (text) => await drafts.save(text, headersOf(etag))),
      );
      const saved = answers.findIndex(({ status }) => status === 200);
      const { etag: newest } = answers[saved]?.json ?? {};
      for (const [at, answer] of answers.entries()) if (at !== saved) assertChanged(answer, newest);
      assert.equal(textIn(await drafts.get()), texts[saved]);
      await drafts.delete();
    }
  });
}

test("every member and every key has a draft of its own, which no other caller can read", async () => {
  const { db } = database;
  const { accountId } = await callerOf(service.key);
  const { token } = await addApiKey(db, accountId, [...scopes]);
  const transcript = await newTranscript();
  const [anna, jon] = [
    await addSignedIn(db, accountId, "MEMBER"),
    await addSignedIn(db, accountId, "OWNER"),
  ];
  const all = [{ key: service.key }, { key: token }, anna, jon].map((by) =>
    draftsOf(transcript, "headers" in by ? { headers: by.headers } : by),
  );
  for (const [at, drafts] of all.entries()) {
    assert.equal(reasonOf(await drafts.get()), "DRAFT_NOT_FOUND");
    const { status } = await drafts.save(`drög ${at}`, { "if-none-match": "*" });
    assert.equal(status, 200);
  }
  for (const [at, drafts] of all.entries()) assert.equal(textIn(await drafts.get()), `drög ${at}`);
  // A viewer reads its own draft only, and cannot save one.
  const viewer = await addSignedIn(db, accountId, "VIEWER");
  const drafts = draftsOf(transcript, viewer);
  assert.equal(reasonOf(await drafts.get()), "DRAFT_NOT_FOUND");
  assert.equal((await drafts.save("drög")).status, 403);
  // Another account has no such transcript.
  const stranger = await addApiKey(db, await addAccount(db), [...scopes]);
  const foreign = draftsOf(transcript, { key: stranger.token });
  assert.equal(reasonOf(await foreign.get()), "DRAFT_NOT_FOUND");
  assert.equal(reasonOf(await foreign.save("drög")), "TRANSCRIPT_NOT_FOUND");
  assert.equal(reasonOf(await foreign.delete()), "DRAFT_NOT_FOUND");
});

/** Returns the account of a key. */
async function callerOf(key: string): Promise<{ accountId: string }> {
  const { json } = await callRest(service.address, key, { method: "GET", path: "/v1/caller" });
  return { accountId: json.account.replace("accounts/", "") };
}

test("a save names what is wrong, and stores nothing", async () => {
  const transcript = await newTranscript();
  const other = await newTranscript();
  const drafts = draftsOf(transcript);
  const content = Buffer.from("drög").toString("base64");
  const { version } = transcript;
  const long = Buffer.alloc(draftBytesMax + 1).toString("base64");
  const path = `/v1alpha1/${transcript.name}/draft`;
  const absent = `/v1alpha1/transcripts/${newId()}/draft`;
  const table: [body: unknown, problem: string | RegExp, headers?: Headers, path?: string][] = [
    [{}, /draft\.baseVersion: is required; draft\.content: is required/],
    [{ baseVersion: version }, /^draft\.content: is required$/],
    [{ baseVersion: version, content: "" }, /^draft\.content: is required$/],
    [{ content }, /^draft\.baseVersion: is required$/],
    [{ baseVersion: version, content: "%" }, /content/],
    [{ baseVersion: version, content: 7 }, /content/],
    [{ baseVersion: version, content, contents: "a" }, /contents/],
    [{ baseVersion: version, content: long }, /has 8388609 bytes; at most 8388608 are allowed/],
    [{ baseVersion: version, content }, /must be \*, not "abc"/, { "if-none-match": "abc" }],
    [
      { baseVersion: version, content },
      /cannot be sent together with If-Match/,
      { "if-none-match": "*", "if-match": newId() },
    ],
    [{ baseVersion: "ekki-til", content }, "VERSION_NOT_FOUND"],
    [{ baseVersion: newId(), content }, "VERSION_NOT_FOUND"],
    [{ baseVersion: other.version, content }, "VERSION_NOT_FOUND"],
    [{ baseVersion: version, content }, "TRANSCRIPT_NOT_FOUND", {}, absent],
    [
      { baseVersion: version, content },
      "TRANSCRIPT_NOT_FOUND",
      {},
      path.replace(/.{7}$/, "/draft"),
    ],
  ];
  for (const [body, problem, headers, at = path] of table) {
    const answer = await callRest(service.address, service.key, {
      method: "PUT",
      path: at,
      body,
      headers,
    });
    const what = JSON.stringify([problem, answer.json]).slice(0, 500);
    if (typeof problem === "string") assert.equal(reasonOf(answer), problem, what);
    else {
      assert.equal(answer.status, 400, what);
      assert.match(answer.json.error.message, problem);
    }
    assert.equal(reasonOf(await drafts.get()), "DRAFT_NOT_FOUND");
  }
});

test("a draft of 8 MiB is saved and read, over gRPC too", async () => {
  const { name, version } = await newTranscript();
  const content = randomBytes(draftBytesMax);
  const drafts = draftsOf({ name, version });
  assert.equal((await drafts.save(content)).status, 200);
  const { json } = await drafts.get();
  assert.ok(Buffer.from(json.content, "base64").equals(content));
  const transport = createGrpcTransport({ baseUrl: service.address });
  const client = createClient(Transcripts, transport);
  const headers = { authorization: `Bearer ${service.key}` };
  const read = await client.getTranscriptDraft({ name: `${name}/draft` }, { headers });
  assert.ok(Buffer.from(read.content).equals(content));
  const draft = { name: `${name}/draft`, baseVersion: version, content: read.content };
  const saved = await client.saveTranscriptDraft(
    { draft },
    { headers: { ...headers, "if-match": read.etag } },
  );
  assert.notEqual(saved.etag, read.etag);
  const stale = { headers: { ...headers, "if-match": read.etag } };
  const failure = await connectFailure(client.deleteTranscriptDraft({ name: draft.name }, stale));
  assert.equal(failure.code, Code.Aborted);
  await client.deleteTranscriptDraft({ name: draft.name }, { headers });
});

test("drafts count as stored bytes, and a draft beyond the limit is not saved", async () => {
  const { db } = database;
  const accountId = await addAccount(db);
  const { token: key } = await addApiKey(db, accountId, [...scopes]);
  const limits = JSON.stringify({ storedBytes: 1_000 });
  await db.updateTable("account").set({ limits }).where("id", "=", accountId).execute();
  const [one, two] = [await newTranscript(key), await newTranscript(key)];
  const [first, second] = [draftsOf(one, { key }), draftsOf(two, { key })];
  assert.equal((await first.save(Buffer.alloc(600, 1))).status, 200);
  const refused = await second.save(Buffer.alloc(401, 2));
  assert.deepEqual([refused.status, reasonOf(refused)], [429, "STORAGE_LIMIT"]);
  assert.equal(reasonOf(await second.get()), "DRAFT_NOT_FOUND");
  assert.equal((await second.save(Buffer.alloc(400, 2))).status, 200);
  const { json } = await callRest(service.address, key, { method: "GET", path: "/v1/account" });
  assert.equal(json.usage.storedBytes, "1000");
  // The bytes of the draft that is replaced are free.
  assert.equal((await first.save(Buffer.alloc(500, 3))).status, 200);
  assert.equal(reasonOf(await first.save(Buffer.alloc(601, 4))), "STORAGE_LIMIT");
  assert.equal(textIn(await first.get()), Buffer.alloc(500, 3).toString("utf8"));
  const initUpload = { method: "POST", path: "/v1alpha1/initupload", body: {} };
  assert.equal((await callRest(service.address, key, initUpload)).status, 200);
  assert.equal((await first.save(Buffer.alloc(600, 3))).status, 200);
  assert.equal(reasonOf(await callRest(service.address, key, initUpload)), "STORAGE_LIMIT");
});

test("drafts are deleted with their transcript, with their member and with their key", async () => {
  const { db } = database;
  const { accountId } = await callerOf(service.key);
  const transcript = await newTranscript();
  const { id, token } = await addApiKey(db, accountId, [...scopes]);
  const member = await addSignedIn(db, accountId, "MEMBER");
  const owners = [{ key: service.key }, { key: token }, { headers: member.headers }];
  for (const owner of owners) {
    assert.equal((await draftsOf(transcript, owner).save("drög")).status, 200);
  }
  const actors = async (): Promise<string[]> => {
    const rows = await db
      .selectFrom("transcript_draft")
      .where("transcript_id", "=", transcript.name.slice(-36))
      .select("actor")
      .execute();
    return rows.map(({ actor }) => actor.slice(0, actor.indexOf("/")) || actor);
  };
  assert.deepEqual((await actors()).toSorted(), ["apiKeys", "apiKeys", "members"]);
  assert.equal((await service.call("DELETE", `/v1/members/${member.memberId}`)).status, 200);
  assert.deepEqual(await actors(), ["apiKeys", "apiKeys"]);
  assert.equal((await service.call("DELETE", `/v1/apiKeys/${id}`)).status, 200);
  assert.deepEqual(await actors(), ["apiKeys"]);
  assert.equal((await service.call("DELETE", `/v1alpha1/${transcript.name}`)).status, 200);
  assert.deepEqual(await actors(), []);
});

test("drafts are deleted 30 days after they were saved", async () => {
  const { db } = database;
  const [kept, old] = [draftsOf(await newTranscript()), draftsOf(await newTranscript())];
  await kept.save("drög");
  await old.save("drög");
  const age = async (drafts: Drafts, hours: number): Promise<void> => {
    await db
      .updateTable("transcript_draft")
      .set({ updated_at: new Date(Date.now() - hours * 3_600_000) })
      .where("transcript_id", "=", drafts.name.slice(-36))
      .execute();
  };
  await age(kept, 30 * 24 - 1);
  await age(old, 30 * 24 + 1);
  await removeOldDrafts({ db, log: createLog("silent") });
  assert.equal((await kept.get()).status, 200);
  assert.equal(reasonOf(await old.get()), "DRAFT_NOT_FOUND");
  // A save begins the 30 days again.
  await age(kept, 30 * 24 + 1);
  await kept.save("drög");
  await removeOldDrafts({ db, log: createLog("silent") });
  assert.equal((await kept.get()).status, 200);
});
