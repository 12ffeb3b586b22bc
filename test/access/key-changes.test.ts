// Keys are renamed, get other limits and a new secret, while the previous one stays valid for a
// chosen time. The use of each key is listed by month, with the calls of the console apart.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../fixtures/until.ts";
import { consoleHeaders } from "../fixtures/signed-in.ts";
import { noteSecret } from "../spec/secrets.ts";
import { callRest, openTestService, type Answer, type TestService } from "../spec/service.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted", HLUST_ROLE: "api" });
});
after(() => service[Symbol.asyncDispose]());

interface MadeKey {
  readonly name: string;
  readonly secret: string;
}

async function makeKey(facts: object): Promise<MadeKey> {
  const { status, json } = await service.call("POST", "/v1/apiKeys", facts);
  assert.equal(status, 200, JSON.stringify(json));
  noteSecret(json.secret, "credential");
  return { name: json.apiKey.name, secret: json.secret };
}

async function callAs(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  return await callRest(service.address, key, { method, path, body });
}

const statusOf = async (key: string) => (await callAs(key, "GET", "/v1/caller")).status;
const reasonIn = ({ json }: Answer) => json.details[0].reason;

async function rotate(name: string, times: object = {}): Promise<Answer> {
  const answer = await service.call("POST", `/v1/${name}:rotate`, times);
  if (answer.status === 200) noteSecret(answer.json.secret, "credential");
  return answer;
}

test("a rotated key has a new secret, and the previous one ends at the chosen time", async () => {
  const { name, secret } = await makeKey({ displayName: "Ritvél" });
  const expireTime = new Date(Date.now() + 4_000).toISOString();
  const first = await rotate(name, { previousSecretExpireTime: expireTime });
  assert.equal(first.status, 200);
  assert.equal(first.json.apiKey.previousSecretExpireTime, expireTime);
  assert.equal(await statusOf(first.json.secret), 200);
  // If the machine was so slow that the time is over, the next test shows the same.
  const isStillValid = (await statusOf(secret)) === 200;
  assert.ok(isStillValid || Date.now() > Date.parse(expireTime));
  await until(async () => (await statusOf(secret)) === 401);
  assert.ok(Date.now() > Date.parse(expireTime) - 1_000);
  assert.equal(await statusOf(first.json.secret), 200);
  const { json } = await service.call("GET", "/v1/apiKeys");
  const shown = json.apiKeys.find((key: { name: string }) => key.name === name);
  assert.equal(shown.previousSecretExpireTime, undefined);
});

test("a secret stays valid for a day if asked, signs in, and ends with the next rotation", async () => {
  const { name, secret } = await makeKey({});
  const previousSecretExpireTime = new Date(Date.now() + 86_400_000).toISOString();
  const first = await rotate(name, { previousSecretExpireTime });
  assert.equal(await statusOf(secret), 200);
  const signIn = await fetch(`${service.address}/console/session`, {
    method: "POST",
    headers: { ...consoleHeaders(undefined), "content-type": "application/json" },
    body: JSON.stringify({ apiKey: secret }),
  });
  assert.equal(signIn.status, 200);
  const second = await rotate(name);
  assert.equal(second.json.apiKey.previousSecretExpireTime, undefined);
  await until(async () => (await statusOf(secret)) === 401);
  await until(async () => (await statusOf(first.json.secret)) === 401);
  assert.equal(await statusOf(second.json.secret), 200);
});

test("a rotation refuses times outside its bounds, and keys of others", async () => {
  const { name } = await makeKey({});
  for (const [time, problem] of [
    [new Date(Date.now() - 1_000).toISOString(), "is not in the future"],
    [new Date(Date.now() + 91 * 86_400_000).toISOString(), "must be at most 90 days from now"],
  ] as const) {
    const { status, json } = await rotate(name, { previousSecretExpireTime: time });
    assert.equal(status, 400);
    const [violation] = json.details.find(
      (each: object) => "fieldViolations" in each,
    ).fieldViolations;
    assert.deepEqual(violation, { field: "previousSecretExpireTime", description: problem });
  }
  const missing = await rotate("apiKeys/0198c5a6-2c7f-7b15-9032-a1b2c3d4e5f6");
  assert.equal(missing.status, 404);
});

test("a caller gains neither scopes nor limits by rotating the key of someone else", async () => {
  const strong = await makeKey({ scopes: ["transcripts.read", "speech"] });
  const weak = await makeKey({ scopes: ["transcripts.read", "account"] });
  const withoutScope = await callAs(weak.secret, "POST", `/v1/${strong.name}:rotate`, {});
  assert.deepEqual([withoutScope.status, reasonIn(withoutScope)], [403, "SCOPE_MISSING"]);
  const limited = await makeKey({
    scopes: ["transcripts.read", "speech", "account"],
    limits: { requestsPerMinute: 500 },
  });
  const withLimit = await callAs(limited.secret, "POST", `/v1/${strong.name}:rotate`, {});
  assert.deepEqual([withLimit.status, reasonIn(withLimit)], [403, "LIMITS_HIGHER"]);
  const raised = await callAs(limited.secret, "PATCH", `/v1/${limited.name}`, {
    limits: { requestsPerMinute: 501 },
  });
  assert.equal(raised.status, 400);
  assert.equal(await statusOf(strong.secret), 200);
  const own = await callAs(limited.secret, "POST", `/v1/${limited.name}:rotate`, {});
  assert.equal(own.status, 200, "a key may rotate itself");
});

test("keys are renamed and get other limits, only as the body says, and the log has it", async () => {
  const { name, secret } = await makeKey({ displayName: "Fyrst", limits: { queuedJobs: 5 } });
  const renamed = await service.call("PATCH", `/v1/${name}`, { displayName: "Síðan" });
  assert.deepEqual(
    [renamed.json.displayName, renamed.json.limits.queuedJobs, renamed.json.name],
    ["Síðan", 5, name],
  );
  const limited = await service.call("PATCH", `/v1/${name}`, { limits: { requestsPerMinute: 2 } });
  assert.deepEqual(limited.json.displayName, "Síðan");
  assert.deepEqual(limited.json.limits.queuedJobs ?? 0, 0, "limits are replaced as a whole");
  await until(async () => (await statusOf(secret)) === 429);
  const freed = await service.call("PATCH", `/v1/${name}`, { limits: {} });
  assert.deepEqual(freed.json.limits, {});
  await until(async () => (await statusOf(secret)) === 200);
  const empty = await service.call("PATCH", `/v1/${name}`, {});
  assert.equal(empty.status, 400);
  const bad = await service.call("PATCH", `/v1/${name}`, {
    displayName: "a\u0007",
    limits: { requestsPerMinute: -1 },
  });
  const { fieldViolations } = bad.json.details.find((each: object) => "fieldViolations" in each);
  assert.deepEqual(
    fieldViolations.map(({ field }: { field: string }) => field),
    ["displayName", "limits.requestsPerMinute"],
  );
  const { json } = await service.call("GET", "/v1/auditEvents");
  const acts = json.auditEvents.filter(({ resource }: { resource: string }) => resource === name);
  assert.deepEqual(
    acts.map(({ action, details }: { action: string; details: unknown }) => [action, details]),
    [
      ["api_key.update", { limits: "{}" }],
      ["api_key.update", { limits: '{"requestsPerMinute":2}' }],
      ["api_key.update", { displayName: "Síðan" }],
      ["api_key.create", acts.at(-1).details],
    ],
  );
});

test("the use of each key is listed by month, the calls of the console apart", async () => {
  const { name, secret } = await makeKey({ displayName: "Mæld" });
  for (let at = 0; at < 3; at += 1) assert.equal(await statusOf(secret), 200);
  const signIn = await fetch(`${service.address}/console/session`, {
    method: "POST",
    headers: { ...consoleHeaders(undefined), "content-type": "application/json" },
    body: JSON.stringify({ apiKey: secret }),
  });
  const cookie = signIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  for (let at = 0; at < 2; at += 1) {
    const answer = await fetch(`${service.address}/console/api/v1/caller`, {
      headers: { ...consoleHeaders(undefined), cookie },
    });
    assert.equal(answer.status, 200);
  }
  const { name: gone, secret: lost } = await makeKey({});
  assert.equal(await statusOf(lost), 200);
  const used = async (month = "") => {
    const { json } = await service.call("GET", `/v1/keyUsage?month=${month}`);
    return new Map<string, { requests: string; consoleRequests: string }>(
      json.keyUsage.map((each: { key: string }) => [each.key, each]),
    );
  };
  await until(async () => (await used()).get(gone)?.requests === "1");
  await until(async () => (await used()).get(name)?.requests === "5");
  assert.equal((await used()).get(name)?.consoleRequests, "2");
  await service.call("DELETE", `/v1/${gone}`);
  assert.equal((await used()).get("")?.requests, "1", "a revoked key is in the sum");
  assert.equal((await used("2020-01")).size, 0);
  const { json } = await service.call("GET", "/v1/usageDays");
  assert.ok(Number(json.usageDays[0].consoleRequests) >= 2);
  const wrong = await service.call("GET", "/v1/keyUsage?month=2026-13");
  assert.equal(wrong.status, 400);
});
