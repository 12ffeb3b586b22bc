// The account of a key (extension): its name, and its retention in days.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fieldsOf } from "./jobs.ts";
import { callRest, openTestService, type Answer, type TestService } from "./service.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
});
after(() => service[Symbol.asyncDispose]());

/** Returns an account without its usage, which changes with each call. */
function withoutUsage(account: Answer["json"]): Answer["json"] {
  return { ...account, usage: undefined };
}

const defaults = {
  languageCode: "is-IS",
  model: "hlust-is-IS",
  diarizationConfig: { enableSpeakerDiarization: true, minSpeakerCount: 1, maxSpeakerCount: 2 },
  phrases: ["Vigdís Finnbogadóttir", "Þjórsá"],
  wordsAsSpoken: true,
};

test("PATCH changes the fields in its body, and GET shows them; 0 days means never", async () => {
  const { status, json } = await service.call("GET", "/v1/account");
  assert.equal(status, 200);
  const account = withoutUsage(json);
  assert.match(account.name, /^accounts\/[\da-f-]{36}$/);
  assert.deepEqual([account.mediaRetentionDays, account.transcriptRetentionDays], [0, 0]);
  const steps: [body: object, path: string, changed: object][] = [
    [{ mediaRetentionDays: 30 }, "", { mediaRetentionDays: 30 }],
    [{ transcriptRetentionDays: 365 }, "", { transcriptRetentionDays: 365 }],
    [{ displayName: "Þjóðskjalasafn" }, "", { displayName: "Þjóðskjalasafn" }],
    [
      { displayName: "x", mediaRetentionDays: 60 },
      "?updateMask=mediaRetentionDays",
      { mediaRetentionDays: 60 },
    ],
    [{ mediaRetentionDays: 0 }, "", { mediaRetentionDays: 0 }],
    [{ vocabularyCandidatesDisabled: true }, "", { vocabularyCandidatesDisabled: true }],
    [{ vocabularyCandidatesDisabled: false }, "", { vocabularyCandidatesDisabled: false }],
    [{ recordingDefaults: defaults }, "", { recordingDefaults: defaults }],
    // All of it is replaced.
    [
      { recordingDefaults: { phrases: ["b"] } },
      "",
      { recordingDefaults: { languageCode: "", model: "", phrases: ["b"], wordsAsSpoken: false } },
    ],
    [
      { recordingDefaults: { wordsAsSpoken: true } },
      "?updateMask=recordingDefaults.wordsAsSpoken",
      { recordingDefaults: { languageCode: "", model: "", phrases: [], wordsAsSpoken: true } },
    ],
  ];
  for (const [body, query, changed] of steps) {
    Object.assign(account, changed);
    const answer = await service.call("PATCH", `/v1/account${query}`, body);
    assert.deepEqual([answer.status, withoutUsage(answer.json)], [200, account]);
    const got = await service.call("GET", "/v1/account");
    assert.deepEqual(withoutUsage(got.json), account);
  }
});

test("PATCH with invalid values gets 400 and changes nothing", async () => {
  const before = withoutUsage((await service.call("GET", "/v1/account")).json);
  const rows: [body: unknown, field: RegExp][] = [
    [{}, /account/],
    [{ mediaRetentionDays: -1 }, /mediaRetentionDays/],
    [{ mediaRetentionDays: 36_501 }, /mediaRetentionDays/],
    [{ transcriptRetentionDays: 1.5 }, /transcriptRetentionDays/],
    [{ transcriptRetentionDays: "many" }, /transcriptRetentionDays/],
    [{ displayName: "a\u0000b" }, /displayName/],
    [{ displayName: "x".repeat(201) }, /displayName/],
    [{ retentionDays: 1 }, /retentionDays/],
    [{ name: "accounts/other" }, /account/],
    [{ recordingDefaults: { languageCode: "íslenska" } }, /recordingDefaults\.languageCode/],
    [{ recordingDefaults: { model: "a" } }, /recordingDefaults\.languageCode.*is required/],
    [{ recordingDefaults: { phrases: ["a", "b", "A"] } }, /recordingDefaults\.phrases\[2\]/],
    [{ recordingDefaults: { phrases: ["x".repeat(101)] } }, /phrases\[0\].*101 characters/],
    [
      { recordingDefaults: { diarizationConfig: { maxSpeakerCount: 21 } } },
      /recordingDefaults\.diarizationConfig\.maxSpeakerCount/,
    ],
    [[], /./],
  ];
  for (const [body, field] of rows) {
    const { status, json } = await service.call("PATCH", "/v1/account", body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(JSON.stringify(json), field);
  }
  assert.deepEqual(withoutUsage((await service.call("GET", "/v1/account")).json), before);
});

test("all keys of an account can read it, and those with the scope can change it", async () => {
  const { json } = await service.call("POST", "/v1/apiKeys", { scopes: ["transcripts.write"] });
  for (const [method, body, status] of [
    ["GET", undefined, 200],
    ["PATCH", { mediaRetentionDays: 1 }, 403],
  ] as const) {
    const answer = await callRest(service.address, json.secret, {
      method,
      path: "/v1/account",
      body,
    });
    assert.equal(answer.status, status, method);
  }
  assert.equal((await fetch(`${service.address}/v1/account`)).status, 401);
});

test("the defaults for new recordings are cleared with {}, and no request gets them", async () => {
  const set = { recordingDefaults: { languageCode: "en-US", phrases: ["a"], wordsAsSpoken: true } };
  assert.equal((await service.call("PATCH", "/v1/account", set)).status, 200);
  // The scripted engine takes no phrases, so that a job that got them would be refused.
  const request = { metadata: { fileType: "AUDIO" }, useUri: false, validateOnly: true };
  const refused = await service.call("POST", "/v1alpha1/transcriptjob:submit", request);
  assert.deepEqual(fieldsOf(refused), ["metadata.languageCode"]);
  const metadata = { ...request.metadata, languageCode: "is-IS" };
  const body = { ...request, metadata };
  const { status, json } = await service.call("POST", "/v1alpha1/transcriptjob:submit", body);
  assert.deepEqual([status, json], [200, { transcriptMetadata: metadata }]);
  const cleared = await service.call("PATCH", "/v1/account", { recordingDefaults: {} });
  assert.equal(cleared.status, 200, JSON.stringify(cleared.json));
  assert.equal("recordingDefaults" in cleared.json, false);
});

test("events of the audit log are listed by action, by kind of action, and by actor", async () => {
  const events = async (query: string): Promise<Answer> =>
    await service.call("GET", `/v1/auditEvents?${query}`);
  const actionsOf = ({ json }: Answer): Set<string> =>
    new Set(json.auditEvents.map(({ action }: { action: string }) => action));
  const { json: made } = await service.call("POST", "/v1/apiKeys", {});
  await service.call("DELETE", `/v1/${made.apiKey.name}`);
  const all = actionsOf(await events(""));
  for (const action of ["account.update", "api_key.create", "api_key.delete"]) {
    assert.ok(all.has(action), action);
  }
  const ofKeys = await events("action=api_key");
  assert.deepEqual(actionsOf(ofKeys), new Set(["api_key.create", "api_key.delete"]));
  assert.deepEqual(actionsOf(await events("action=api")), new Set());
  const { actor } = ofKeys.json.auditEvents[0];
  const deletions = await events(`action=api_key.delete&actor=${actor}`);
  assert.deepEqual(actionsOf(deletions), new Set(["api_key.delete"]));
  assert.deepEqual(actionsOf(await events(`actor=${made.apiKey.name}`)), new Set());
  const { json: first } = await events("action=api_key&pageSize=1");
  const token = `pageToken=${first.nextPageToken}`;
  assert.equal((await events(`action=api_key&pageSize=1&${token}`)).status, 200);
  assert.deepEqual(fieldsOf(await events(token)), ["pageToken"]);
  assert.deepEqual(fieldsOf(await events("action=x%25")), ["action"]);
  assert.deepEqual(fieldsOf(await events(`actor=${"a".repeat(201)}`)), ["actor"]);
});
