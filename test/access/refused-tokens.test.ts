// Brute-force attacks against the whole service behind a proxy that it trusts (threats 37 and 63),
// at every door.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { newApiKey } from "../../src/auth/api-key.ts";
import { newSecretToken } from "../../src/auth/secret-token.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { callRest, openTestService, type TestService } from "../spec/service.ts";
import { openStream } from "../spec/stream.ts";

const perMinute = 4;
const attacker = { "x-forwarded-for": "203.0.113.1, 198.51.100.7" };
const neighbor = { "x-forwarded-for": "198.51.100.8" };
const path = "/v1alpha1/transcripts";

let service: TestService;
before(async () => {
  service = await openTestService({
    HLUST_ENGINE: "scripted",
    HLUST_REFUSED_PER_MINUTE: `${perMinute}`,
    HLUST_TRUSTED_PROXIES: "127.0.0.0/8",
    HLUST_ALLOWED_ORIGINS: "https://app.example",
  });
});
after(() => service[Symbol.asyncDispose]());

const get = (key: string, headers: Record<string, string>) =>
  callRest(service.address, key, { method: "GET", path, headers });

test("a caller with bad tokens must wait at every door, while good tokens still work", async () => {
  assert.equal((await get(service.key, attacker)).status, 200);
  const began = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      if (n % 10 === 0) assert.equal((await get(service.key, attacker)).status, 200);
      // The forged addresses in the headers change nothing.
      const forged = { "x-forwarded-for": `203.0.113.${n % 250}, 198.51.100.7` };
      return await get(newApiKey().token, forged);
    }),
  );
  const refused = answers.filter(({ status }) => status === 401).length;
  // One more attempt is allowed every 15 s.
  const more = Math.ceil((performance.now() - began) / (60_000 / perMinute));
  assert.ok(refused >= perMinute && refused <= perMinute + more, `${refused} were checked`);
  for (const { status, headers, json } of answers) {
    if (status === 401) continue;
    assert.equal(status, 429);
    assert.match(headers.get("retry-after") ?? "", /^\d{1,2}$/);
    assert.equal(json.details[0].reason, "TOO_MANY_REFUSED");
    assert.match(json.details[1]["@type"], /RetryInfo$/);
  }

  const bearer = (key: string) => ({ ...attacker, authorization: `Bearer ${key}` });
  const client = createClient(Transcripts, createGrpcTransport({ baseUrl: service.address }));
  // Uses up an attempt that has become available.
  await get(newApiKey().token, attacker);
  const error = await client
    .listTranscripts({}, { headers: bearer(newApiKey().token) })
    .then(() => assert.fail("a bad token was accepted"), ConnectError.from);
  assert.equal(error.code, Code.ResourceExhausted);
  await client.listTranscripts({}, { headers: bearer(service.key) });
  assert.equal((await get(service.key, attacker)).status, 200);
  assert.equal((await get(newApiKey().token, neighbor)).status, 401);
});

test("an address with too many refusals opens no stream with a new token", async () => {
  // The sockets of this test come from the proxy itself, so the proxy's own address is the
  // caller's.
  for (let n = 0; n < perMinute; n += 1) await get(newApiKey().token, {});
  await get(newApiKey().token, {});
  await assert.rejects(openStream(service.address, { token: newApiKey().token }), /HTTP 429/);
  const stream = await openStream(service.address, { token: service.key });
  stream.terminate();
});

test("a caller with bad console cookies must wait, and signed-in users are not affected", async () => {
  const url = `${service.address}/console/session`;
  const page = {
    "sec-fetch-site": "same-origin",
    "x-hlust-console": "1",
    "content-type": "application/json",
    "x-forwarded-for": "198.51.100.9",
  };
  const body = JSON.stringify({ apiKey: service.key });
  const signedIn = await fetch(url, { method: "POST", headers: page, body });
  const [cookie = ""] = signedIn.headers.getSetCookie()[0]?.split(";") ?? [];
  const status = async (shown: string) =>
    (await fetch(url, { headers: { ...page, cookie: shown } })).status;
  assert.equal(await status(cookie), 200);
  const forged = () => status(`__Host-hlust=${newSecretToken("session_").token}`);
  const answers = await Promise.all(Array.from({ length: 50 }, forged));
  assert.ok(answers.filter((each) => each === 401).length <= 2 * perMinute);
  assert.ok(answers.includes(429));
  assert.equal(await status(cookie), 200);
});

test("pages of the configured origins may make calls", async () => {
  const origin = "https://app.example";
  const { headers } = await get(service.key, { ...neighbor, origin });
  assert.equal(headers.get("access-control-allow-origin"), origin);
});
