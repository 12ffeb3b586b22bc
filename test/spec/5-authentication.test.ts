// §5: authentication.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { SignJWT } from "jose";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { noteSecret } from "./secrets.ts";
import { callRest, openTestService, type TestService } from "./service.ts";
import { openStream, streamingConfig, streamPath } from "./stream.ts";

let service: TestService;
before(async () => {
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_PUBLIC_URL: "https://hlust.example",
  });
});
after(() => service[Symbol.asyncDispose]());

const list = "/v1alpha1/transcripts";
const recognize = "/v2beta1/speech:recognize";

const get = (path: string, headers: Record<string, string> = {}) =>
  callRest(service.address, undefined, { method: "GET", path, headers });
const post = (path: string, headers: Record<string, string> = {}) =>
  callRest(service.address, undefined, { method: "POST", path, body: {}, headers });

test("the first start writes a key to a file that only its owner can read", async () => {
  assert.match(service.key, /^hlust_[A-Za-z0-9]+_[A-Za-z0-9._~-]{40,}$/);
  assert.equal(statSync(join(service.dataFolder, "api-key")).mode & 0o777, 0o600);
  assert.equal((await service.call("GET", list)).status, 200);
});

test("the token is accepted in the places that §5 names, and only there", async () => {
  const { key } = service;
  const bearer = { authorization: `Bearer ${key}` };
  // 400 means that the call is authorized and that its empty request is invalid.
  const rows: [answer: Promise<{ status: number }>, status: number, row: string][] = [
    [get(list, bearer), 200, "header on the transcript interface"],
    [get(list, { authorization: `bearer ${key}` }), 200, "scheme in lower case"],
    [get(`${list}?token=${key}`), 401, "token= on the transcript interface"],
    [get(list, { "x-goog-api-key": key }), 200, "X-Goog-Api-Key (extension)"],
    [get(`${list}?key=${key}`), 401, "Google's key= in the URL"],
    [post(recognize, bearer), 400, "header on the speech interface"],
    [post(`${recognize}?token=${key}`), 400, "token= on the speech interface"],
    [get(list), 401, "nothing"],
    [get(list, { authorization: "Bearer wrong" }), 401, "not a token"],
    [get(list, { authorization: `Bearer ${key}x` }), 401, "a changed secret"],
    [get(list, { authorization: `Basic ${key}` }), 401, "another scheme"],
    [post(`${recognize}?token=wrong`), 401, "not a token in token="],
  ];
  for (const [answer, status, row] of rows) assert.equal((await answer).status, status, row);
});

test("two different credentials are refused, but the same credential twice is accepted", async () => {
  const bearer = { authorization: `Bearer ${service.key}` };
  assert.equal((await post(`${recognize}?token=other`, bearer)).status, 400);
  const { status, json } = await post(`${recognize}?token=${service.key}`, bearer);
  assert.equal(status, 400);
  assert.match(json.message, /config/, "the call is authorized, and its empty request is invalid");
});

test("WebSockets accept token= and the subprotocol, and the response never contains the token", async () => {
  const byQuery = await openStream(service.address, { token: service.key });
  assert.equal(byQuery.protocol, "");
  byQuery.terminate();
  const byProtocol = await openStream(service.address, { protocols: ["Bearer", service.key] });
  assert.equal(byProtocol.protocol, "Bearer");
  byProtocol.terminate();
  await assert.rejects(openStream(service.address), /HTTP 401/);
  await assert.rejects(openStream(service.address, { token: "wrong" }), /HTTP 401/);
  await assert.rejects(openStream(service.address, { protocols: ["Bearer", "wrong"] }), /HTTP 401/);
  const both = { token: "other", protocols: ["Bearer", service.key] };
  await assert.rejects(openStream(service.address, both), /HTTP 400/);
  await assert.rejects(
    openStream(service.address, { token: service.key, path: "/v2beta1/x" }),
    /HTTP 404/,
  );
});

test("a key allows the calls of its scopes until it is revoked", async () => {
  const made = await service.call("POST", "/v1/apiKeys", {
    displayName: "reader",
    scopes: ["transcripts.read"],
  });
  assert.equal(made.status, 200);
  const { secret, apiKey } = made.json;
  const bearer = { authorization: `Bearer ${secret}` };
  assert.equal((await get(list, bearer)).status, 200);
  const forbidden = await post(list, bearer);
  assert.equal(forbidden.status, 403);
  assert.match(forbidden.json.message, /transcripts\.write/);
  assert.equal((await post(recognize, bearer)).status, 403);
  assert.equal((await get("/v1/apiKeys", bearer)).status, 403);

  const { json } = await service.call("GET", "/v1/apiKeys");
  const names = json.apiKeys.map(({ name }: { name: string }) => name);
  assert.ok(names.includes(apiKey.name));
  const random = secret.slice(-43);
  assert.equal(JSON.stringify(json).includes(random), false, "secrets are shown once");

  assert.equal((await service.call("DELETE", `/v1/${apiKey.name}`)).status, 200);
  const revokedAt = Date.now();
  for (let at = revokedAt; (await get(list, bearer)).status !== 401; at = Date.now()) {
    assert.ok(at < revokedAt + 1_000, "revoked keys are refused within 1 s");
  }
});

test("a JWT signed with a registered key is an access token", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const { status, json } = await service.call("POST", "/v1/clientKeys", {
    displayName: "studio",
    publicKey: pem,
  });
  assert.equal(status, 200);
  assert.equal(json.algorithm, "ES256");
  const sign = (audience: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: "ES256", kid: json.keyId })
      .setIssuer(json.clientId)
      .setSubject(json.clientId)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime("10m")
      .sign(privateKey);
  const good = await sign("https://hlust.example");
  assert.equal((await get(list, { authorization: `Bearer ${good}` })).status, 200);
  const socket = await openStream(service.address, { protocols: ["Bearer", good] });
  socket.terminate();
  const other = await sign("https://other.example");
  const refused = await get(list, { authorization: `Bearer ${other}` });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("www-authenticate"), 'Bearer error="invalid_token"');
});

test("a stream token opens one WebSocket, and nothing else (extension)", async () => {
  const mint = async (): Promise<string> => {
    const { status, json } = await service.call("POST", "/v1/streamTokens", {});
    assert.equal(status, 200);
    noteSecret(json.token, "credential");
    return json.token;
  };
  const token = await mint();
  assert.match(token, /^hlust_stream_[0-9a-f]{32}_[\w-]{43}$/);
  const bearer = { authorization: `Bearer ${token}` };
  const speech = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  const grpc = Array.fromAsync(speech.streamingRecognize(noRequests(), { headers: bearer }));
  assert.equal((await connectFailure(grpc)).code, Code.Unauthenticated);
  const refused = [
    get(list, bearer),
    get("/v1/account", bearer),
    post("/v1/streamTokens", bearer),
    post(recognize, bearer),
    post(`${recognize}?token=${token}`),
    get(`${streamPath}?token=${token}`),
  ];
  for (const answer of refused) assert.equal((await answer).status, 401);
  const wrong = `${token.slice(0, -4)}${token.endsWith("AAAA") ? "BBBB" : "AAAA"}`;
  await assert.rejects(openStream(service.address, { token: wrong }), /HTTP 401/);

  // None of these calls has consumed the token.
  const stream = await openStream(service.address, { token });
  stream.send(streamingConfig());
  stream.sendAudio(Buffer.alloc(32_000, 1));
  await stream.waitFor(({ result }) => result !== undefined);
  stream.terminate();
  await assert.rejects(openStream(service.address, { token }), /HTTP 401/);
  const byProtocol = await openStream(service.address, { protocols: ["Bearer", await mint()] });
  assert.equal(byProtocol.protocol, "Bearer");
  byProtocol.terminate();

  const { json } = await service.call("POST", "/v1/apiKeys", { scopes: ["transcripts.read"] });
  const reader = { authorization: `Bearer ${json.secret}` };
  assert.equal((await post("/v1/streamTokens", reader)).status, 403);
  const events = (await service.call("GET", "/v1/auditEvents")).json.auditEvents;
  const event = events.find(({ action }: { action: string }) => action === "stream_token.create");
  assert.match(event.resource, /^streamTokens\/[0-9a-f-]{36}$/);
  assert.match(event.actor, /^apiKeys\//);
});

async function* noRequests() {}

test("health needs no token and shows no secret", async () => {
  assert.deepEqual((await get("/healthz")).json, { status: "ok" });
  const ready = await get("/readyz");
  assert.equal(ready.status, 200);
  assert.equal(ready.json.status, "ready");
  for (const part of ["database", "engines", "media", "sandbox"]) {
    assert.equal(ready.json.parts[part].ready, true, part);
  }
});
