// The account of a key (extension): its name, and its retention in days.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
