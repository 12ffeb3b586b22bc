// The audit log of a whole service, called over its real protocols. The log contains every action
// that concerns access and every deletion of a recording, and is written in the same commit as the
// action.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { DescMethod } from "@bufbuild/protobuf";
import { openDatabase, type Database } from "../../src/database/database.ts";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Operator } from "../../src/gen/hlust/operator/v1/operator_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { Vocabulary } from "../../src/gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { Webhooks } from "../../src/gen/hlust/webhooks/v1/webhooks_pb.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { unsentMail } from "../fixtures/unsent-mail.ts";
import { callRest, openTestService, type Answer, type TestService } from "../spec/service.ts";
import { until } from "../fixtures/until.ts";
import { contentOfAccess } from "./access-content.ts";
import { auditedThings, checked, publicPem } from "./audited-things.ts";
import { assertComplete } from "./not-audited.ts";

let service: TestService;
let database: Database;
let actor: string;
before(async () => {
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_ROLE: "api",
    // One test makes the service fail.
    HLUST_LOG: "silent",
    ...unsentMail,
  });
  const folder = join(service.dataFolder, "postgres");
  database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  actor = (await service.call("GET", "/v1/caller")).json.actor;
  await things.makeMember(); // an owner, who stays
});
after(async () => {
  await database[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString();

const newMember = { email: "Anna@Example.is", displayName: "Anna", role: "VIEWER" };
const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString();

/** A call that is audited. `make` creates the resource that the call is about. */
interface Row {
  readonly method: DescMethod;
  readonly call: (name: string) => readonly [method: string, path: string, body?: unknown];
  /** The action and its details; "*" stands for any value. */
  readonly event: readonly [action: string, details: Readonly<Record<string, string>>];
  readonly make?: () => Promise<string>;
  /** Reads the name of the created resource from the response. */
  readonly made?: (json: Answer["json"]) => string;
}

const things = auditedThings(() => service);

const usualScopes = "transcripts.read,transcripts.write,speech";

const deletion = (method: DescMethod, of: () => Promise<string>, event: Row["event"]): Row => ({
  method,
  make: of,
  call: (name) => ["DELETE", `/v1/${name}`],
  event,
});

const rows: readonly Row[] = [
  {
    method: Accounts.method.updateAccount,
    call: () => ["PATCH", "/v1/account", { displayName: "Safn", mediaRetentionDays: 30 }],
    made: ({ name }) => name,
    event: ["account.update", { fields: "displayName,mediaRetentionDays" }],
  },
  {
    method: Accounts.method.createApiKey,
    call: () => ["POST", "/v1/apiKeys", { displayName: "Sími", expireTime: inAYear }],
    made: ({ apiKey }) => apiKey.name,
    event: ["api_key.create", { displayName: "Sími", scopes: usualScopes, expireTime: inAYear }],
  },
  {
    method: Accounts.method.updateApiKey,
    make: things.makeKey,
    call: (name) => ["PATCH", `/v1/${name}`, { displayName: "b", limits: { queuedJobs: 2 } }],
    event: ["api_key.update", { displayName: "b", limits: '{"queuedJobs":2}' }],
  },
  {
    method: Accounts.method.rotateApiKey,
    make: things.makeKey,
    call: (name) => ["POST", `/v1/${name}:rotate`, { previousSecretExpireTime: inAMonth }],
    event: ["api_key.rotate", { displayName: "a", previousUntil: inAMonth }],
  },
  deletion(Accounts.method.deleteApiKey, things.makeKey, ["api_key.delete", { displayName: "a" }]),
  {
    method: Accounts.method.createClientKey,
    call: () => ["POST", "/v1/clientKeys", { publicKey: publicPem, scopes: ["speech"] }],
    made: ({ name }) => name,
    event: ["client_key.create", { displayName: "", scopes: "speech" }],
  },
  {
    method: Accounts.method.updateClientKey,
    make: things.makeClientKey,
    call: (name) => ["PATCH", `/v1/${name}`, { displayName: "b" }],
    event: ["client_key.update", { displayName: "b" }],
  },
  deletion(Accounts.method.deleteClientKey, things.makeClientKey, [
    "client_key.delete",
    { displayName: "" },
  ]),
  {
    method: Accounts.method.createMember,
    call: () => ["POST", "/v1/members", newMember],
    made: ({ name }) => name,
    event: ["member.create", newMember],
  },
  {
    method: Accounts.method.updateMember,
    make: things.makeMember,
    call: (name) => ["PATCH", `/v1/${name}`, { role: "MEMBER" }],
    event: ["member.update", { role: "MEMBER", roleBefore: "OWNER" }],
  },
  deletion(Accounts.method.deleteMember, things.makeMember, [
    "member.delete",
    { email: "*", displayName: "", role: "OWNER" },
  ]),
  {
    method: Accounts.method.createSignInLink,
    make: things.makeMember,
    call: (name) => ["POST", `/v1/${name}:createSignInLink`, {}],
    event: ["sign_in_token.create", {}],
  },
  {
    method: Accounts.method.sendInvitation,
    make: things.makeMember,
    call: (name) => ["POST", `/v1/${name}:sendInvitation`, {}],
    event: ["invitation.send", { email: "*" }],
  },
  {
    method: Operator.method.updateManagedAccount,
    make: async () => `accounts/${await addAccount(database.db)}`,
    call: (name) => ["PATCH", `/v1/operator/${name}`, { disabled: true }],
    event: ["account.disable", {}],
  },
  {
    method: Accounts.method.createStreamToken,
    call: () => ["POST", "/v1/streamTokens", {}],
    made: ({ token }) => streamTokenName(token),
    event: ["stream_token.create", {}],
  },
  {
    method: Transcripts.method.deleteTranscript,
    make: things.makeTranscript,
    call: (name) => ["DELETE", `/v1alpha1/${name}`],
    event: ["transcript.delete", {}],
  },
  {
    method: Transcripts.method.binTranscripts,
    make: things.makeTranscript,
    call: (name) => ["POST", "/v1alpha1/transcripts:bin", { names: [name] }],
    event: ["transcript.bin", {}],
  },
  {
    method: Transcripts.method.restoreBinnedTranscripts,
    make: things.makeBinned,
    call: (name) => ["POST", "/v1alpha1/binnedtranscripts:restore", { names: [name] }],
    event: ["transcript.restore", {}],
  },
  {
    method: Transcripts.method.deleteBinnedTranscripts,
    make: things.makeBinned,
    call: (name) => ["POST", "/v1alpha1/binnedtranscripts:delete", { names: [name] }],
    event: ["transcript.delete", {}],
  },
  {
    method: Transcripts.method.createShare,
    make: things.makeTranscript,
    call: (name) => ["POST", `/v1alpha1/${name}/shares`, { expireTime: inAMonth }],
    made: ({ name }) => name,
    event: ["share.create", { withMedia: "false", expireTime: inAMonth }],
  },
  {
    method: Transcripts.method.deleteShare,
    make: things.makeShare,
    call: (name) => ["DELETE", `/v1alpha1/${name}`],
    event: ["share.delete", {}],
  },
  {
    method: Transcripts.method.modifyReview,
    make: things.makeMarked,
    call: (name) => ["POST", `/v1alpha1/${name}:modifyReview`, { remove: [checked] }],
    event: ["review.remove", { authors: "*" }],
  },
  {
    method: Webhooks.method.createWebhook,
    call: () => [
      "POST",
      "/v1/webhooks",
      { url: "http://127.0.0.1/?secret", displayName: "Bjalla" },
    ],
    made: ({ webhook }) => webhook.name,
    event: ["webhook.create", { displayName: "Bjalla", eventTypes: "" }],
  },
  {
    method: Webhooks.method.updateWebhook,
    make: things.makeWebhook,
    call: (name) => ["PATCH", `/v1/${name}`, { url: "http://127.0.0.1/other", disabled: true }],
    event: ["webhook.update", { fields: "url,disabled" }],
  },
  {
    method: Webhooks.method.rotateWebhookSecret,
    make: things.makeWebhook,
    call: (name) => ["POST", `/v1/${name}:rotateSecret`, {}],
    event: ["webhook.rotate_secret", {}],
  },
  deletion(Webhooks.method.deleteWebhook, things.makeWebhook, ["webhook.delete", {}]),
  {
    method: Vocabulary.method.createVocabularyPhrase,
    call: () => ["POST", "/v2beta1/vocabularyPhrases", things.newPhrase()],
    made: ({ name }) => name,
    event: ["vocabulary.create", { phrases: "1" }],
  },
  {
    method: Vocabulary.method.importVocabularyPhrases,
    call: () => [
      "POST",
      "/v2beta1/vocabularyPhrases:import",
      { phrases: [things.newPhrase(), things.newPhrase()] },
    ],
    made: () => "vocabularyPhrases",
    event: ["vocabulary.import", { phrases: "2" }],
  },
  {
    method: Vocabulary.method.updateVocabularyPhrase,
    make: things.makePhrase,
    call: (name) => ["PATCH", `/v2beta1/${name}`, { state: "REJECTED", weight: 3 }],
    event: ["vocabulary.update", { fields: "weight,state", state: "REJECTED" }],
  },
  {
    method: Vocabulary.method.deleteVocabularyPhrase,
    make: things.makePhrase,
    call: (name) => ["DELETE", `/v2beta1/${name}`],
    event: ["vocabulary.delete", {}],
  },
];

/** Returns the id in hlust_stream_<id without dashes>_<secret>. */
function streamTokenName(token: string): string {
  const digits = token.split("_")[2] ?? "";
  return `streamTokens/${digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")}`;
}

const list = async (query = "") => await service.call("GET", `/v1/auditEvents${query}`);

test("every method that changes something is listed here as audited, or as not audited with a reason", () => {
  assertComplete(new Set(rows.map(({ method }) => method)));
});

for (const { method, make: makeFirst, call, made, event } of rows) {
  test(`${method.name} is in the audit log, with actor, resource and origin`, async () => {
    const name = (await makeFirst?.()) ?? "";
    const [verb, path, body] = call(name);
    const { status, json } = await service.call(verb, path, body);
    assert.equal(status, 200, JSON.stringify(json));
    const [newest] = (await list("?pageSize=1")).json.auditEvents;
    const [action, details] = event;
    const expected = Object.fromEntries(
      Object.entries(details).map(([key, value]) => [
        key,
        value === "*" ? newest.details[key] : value,
      ]),
    );
    assert.match(newest.name, /^auditEvents\/[\da-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(newest.time) - Date.now()) < 60_000);
    assert.match(newest.requestId, /^[\w.-]{1,128}$/);
    const { name: _name, time: _time, requestId: _requestId, ...facts } = newest;
    // Empty details are omitted.
    assert.deepEqual(
      { details: {}, ...facts },
      {
        actor,
        action,
        resource: made ? made(json) : name,
        outcome: "OK",
        address: "127.0.0.1",
        details: expected,
      },
    );
  });
}

test("an action that cannot be written to the audit log is not done", async () => {
  const prepared: [row: Row, name: string][] = [];
  for (const row of rows) prepared.push([row, (await row.make?.()) ?? ""]);
  await database.pool.query(`
    create function take_nothing() returns trigger language plpgsql as 'begin raise exception ''full''; end';
    create trigger full_log before insert on audit_event for each row execute function take_nothing()`);
  // Creating a stream token deletes expired tokens, so there must be none.
  await database.db.deleteFrom("stream_token").execute();
  const before = await contentOfAccess(database);
  for (const [{ method, call }, name] of prepared) {
    const [verb, path, body] = call(name);
    const again =
      method === Accounts.method.createMember
        ? { ...Object(body), email: things.newEmail() }
        : body;
    const { status } = await service.call(verb, path, again);
    assert.equal(status, 500, method.name);
    assert.equal(await contentOfAccess(database), before, method.name);
  }
  await database.pool.query("drop trigger full_log on audit_event");
});

test("an account lists its own audit log in pages, newest first", async () => {
  const otherId = await addAccount(database.db);
  const other = await addApiKey(database.db, otherId, ["account"]);
  const listOther = async (query: string) =>
    await callRest(service.address, other.token, {
      method: "GET",
      path: `/v1/auditEvents${query}`,
    });
  const body = { scopes: ["account"] };
  const { apiKey, secret } = (await service.call("POST", "/v1/apiKeys", body)).json;
  await callRest(service.address, secret, { method: "POST", path: "/v1/apiKeys", body });
  assert.equal((await service.call("DELETE", `/v1/${apiKey.name}`)).status, 200);
  const all = (await list("?pageSize=1000")).json;
  assert.equal(all.nextPageToken, "");
  assert.ok(all.auditEvents.length >= rows.length);
  const times = all.auditEvents.map(({ time }: { time: string }) => Date.parse(time));
  assert.deepEqual(
    times,
    times.toSorted((a: number, b: number) => b - a),
  );
  // The first page has all actors, also those whose events are on other pages or filtered out.
  const actors = new Set(all.auditEvents.map(({ actor }: { actor: string }) => actor));
  assert.ok(actors.size > 1 && actors.has(apiKey.name));
  for (const query of ["?pageSize=1", "?action=webhook&pageSize=1", "?actor=members/none"]) {
    assert.deepEqual(new Set((await list(query)).json.actors), actors, query);
  }
  const listed: unknown[] = [];
  for (let token: string | undefined = ""; token !== undefined;) {
    const { json }: Answer = await list(`?pageSize=7&pageToken=${token}`);
    listed.push(...json.auditEvents);
    assert.equal(json.actors !== undefined, token === "");
    assert.ok(json.auditEvents.length <= 7);
    if (token !== "") {
      const foreign = await listOther(`?pageToken=${token}`);
      assert.equal(foreign.status, 400, "another account's page");
    }
    token = json.nextPageToken === "" ? undefined : json.nextPageToken;
  }
  assert.deepEqual(listed, all.auditEvents);
  assert.deepEqual((await listOther("")).json, { auditEvents: [], nextPageToken: "" });
  for (const query of ["?pageSize=-1", "?pageToken=x", `?pageToken=${"A".repeat(60)}`]) {
    assert.equal((await list(query)).status, 400, query);
  }
});

test("only callers that manage the account can read its audit log, which names refused callers", async () => {
  const { json } = await service.call("POST", "/v1/apiKeys", {
    scopes: ["transcripts.read", "transcripts.write", "speech"],
  });
  const path = "/v1/auditEvents";
  assert.equal((await callRest(service.address, json.secret, { method: "GET", path })).status, 403);
  await until(async () => {
    const [newest] = (await list("?pageSize=1")).json.auditEvents;
    return newest.outcome === "REFUSED" && newest.actor === json.apiKey.name;
  });
});
