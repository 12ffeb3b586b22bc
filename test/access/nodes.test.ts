// Two real nodes on one database. A credential that is revoked on one node is refused by both, and
// a stream token opens only one socket, on either node.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  Speech,
  StreamingRecognizeRequestSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newApiKey } from "../../src/auth/api-key.ts";
import { newId } from "../../src/std/ids.ts";
import { newKeyPair, signJwt } from "../fixtures/auth-fixture.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { openCluster, type Cluster, type ClusterNode } from "../fault/cluster.ts";
import { callRest } from "../spec/service.ts";
import { openStream, streamingConfig, type TestStream } from "../spec/stream.ts";
import { onceWithin, until } from "../fixtures/until.ts";

const publicUrl = "https://hlust.example";
const list = "/v1alpha1/transcripts";
/** The maximum time until a revoked credential is refused (docs/api.md, Access). */
const refusedMsMax = 1_000;
const endedMsMax = 5_000;

let cluster: Cluster;
let nodes: readonly [ClusterNode, ClusterNode];

before(async () => {
  cluster = await openCluster({ HLUST_PUBLIC_URL: publicUrl });
  nodes = [cluster.addNode("api"), cluster.addNode("api")];
  // The first node creates the account and its key.
  await nodes[0].start();
  await nodes[1].start();
});
after(() => cluster[Symbol.asyncDispose]());

const addressOf = (node: ClusterNode): string => node.service.address;

async function call(method: string, path: string, body?: unknown) {
  const [{ service }] = nodes;
  const { status, json } = await callRest(service.address, service.key, { method, path, body });
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

/** Submits a job that never ends, since there is no worker. */
async function waitingJob(): Promise<string> {
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  const body = { metadata, useUri: true, uri: "http://127.0.0.1:9/a.wav" };
  return (await call("POST", "/v1alpha1/transcriptjob:submit", body)).name;
}

/** Opens a stream, and waits until audio has been answered. */
async function listen(node: ClusterNode, token: string): Promise<TestStream> {
  const stream = await openStream(addressOf(node), { token });
  stream.send(streamingConfig());
  await answersAudio(stream);
  return stream;
}

async function answersAudio(stream: TestStream): Promise<void> {
  const before = stream.messages.length;
  stream.sendAudio(Buffer.alloc(32_000, 1), 32_000);
  await stream.waitFor((message) => stream.messages.indexOf(message) >= before);
}

/** Opens streams at every door; each stream resolves to the reason for its end. */
async function openStreams(node: ClusterNode, token: string, job: string) {
  const baseUrl = addressOf(node);
  const headers = { authorization: `Bearer ${token}` };
  const sockets = await Promise.all([
    listen(node, token),
    ...Array.from({ length: 9 }, async () => {
      const stream = await openStream(baseUrl, { token });
      stream.send(streamingConfig());
      return stream;
    }),
  ]);
  const watches = [
    [job, "application/x-ndjson"],
    [job, "text/event-stream"],
    ["transcriptjob", "application/x-ndjson"],
  ].map(async ([name, accept = ""]) => {
    const response = await fetch(`${baseUrl}/v1alpha1/${name}:watch`, {
      headers: { ...headers, accept },
    });
    assert.equal(response.status, 200);
    return response;
  });
  const answered = await Promise.all(watches);
  const transport = createGrpcTransport({ baseUrl });
  const spoken = Promise.withResolvers<void>();
  const speech = connectFailure(
    drained(
      createClient(Speech, transport).streamingRecognize(speaking(), { headers }),
      spoken.resolve,
    ),
  );
  const watched = Promise.withResolvers<void>();
  const watch = connectFailure(
    drained(
      createClient(Transcripts, transport).watchTranscriptJob({ name: job }, { headers }),
      watched.resolve,
    ),
  );
  await Promise.all([spoken.promise, watched.promise]);
  return [
    ...sockets.map(async ({ closed, messages }) => {
      const code = await closed;
      return `${code} ${messages.at(-1)?.error?.code}`;
    }),
    ...answered.map(async (response) => {
      const last = (await response.text()).trim().split("\n").at(-1) ?? "";
      return `${JSON.parse(last.replace("data: ", "")).error?.code}`;
    }),
    speech.then(({ code }) => Code[code]),
    watch.then(({ code }) => Code[code]),
  ];
}

async function drained(answers: AsyncIterable<unknown>, begun: () => void): Promise<void> {
  for await (const _ of answers) begun();
}

/** Sends speech and then waits while the stream is open. */
async function* speaking() {
  const { streamingConfig: value } = streamingConfig();
  const requests: MessageInitShape<typeof StreamingRecognizeRequestSchema>[] = [
    {
      streamingRequest: {
        case: "streamingConfig",
        value: { ...value, config: { ...value.config, encoding: 1 } },
      },
    },
    { streamingRequest: { case: "audioContent", value: new Uint8Array(32_000).fill(1) } },
  ];
  for (const request of requests) yield create(StreamingRecognizeRequestSchema, request);
  await new Promise(() => {});
}

const ended = [
  ...Array.from({ length: 10 }, () => "1008 16"),
  "16",
  "16",
  "16",
  "Unauthenticated",
  "Unauthenticated",
];

/**
 * Calls with the token until every node refuses it. Fails unless the last accepted call began
 * within a second of the revocation.
 */
async function refusedEverywhere(token: string, revokedAt: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const call = { method: "POST", path: "/v2beta1/speech:recognize", body: {}, headers };
  const refused = nodes.map(async (node) => {
    let lastUseAt = revokedAt;
    for (;;) {
      const at = performance.now();
      const { status } = await callRest(addressOf(node), undefined, call);
      if (status === 401) break;
      assert.equal(status, 400, "admitted, and refused because its audio is empty");
      assert.ok(at - revokedAt < 10 * refusedMsMax, "it is still accepted");
      lastUseAt = at;
    }
    assert.ok(lastUseAt - revokedAt < refusedMsMax, `accepted for ${lastUseAt - revokedAt} ms`);
  });
  await Promise.all(refused);
}

test("a watch of all jobs shows within a second what callers of another node do", async () => {
  const [{ service }, other] = nodes;
  const headers = { authorization: `Bearer ${service.key}` };
  const transport = createGrpcTransport({ baseUrl: addressOf(other) });
  const stop = new AbortController();
  const client = createClient(Transcripts, transport);
  const messages = client.watchTranscriptJobs({}, { headers, signal: stop.signal });
  const watch = messages[Symbol.asyncIterator]();
  await watch.next();
  await onceWithin(1_000, async () => {
    const name = await waitingJob();
    const startedAt = performance.now();
    const next = await watch.next();
    assert.ok(next.done !== true);
    assert.deepEqual(
      next.value.jobs.map((each) => each.name),
      [name],
    );
    return performance.now() - startedAt;
  });
  stop.abort();
});

test("a revoked API key is refused within 1 s, and its streams end within 5 s", async () => {
  const { secret, apiKey } = await call("POST", "/v1/apiKeys", { displayName: "one of many" });
  const job = await waitingJob();
  const opened = await Promise.all(nodes.map(async (node) => openStreams(node, secret, job)));
  const others = await Promise.all(nodes.map(async (node) => listen(node, nodes[0].service.key)));
  await call("DELETE", `/v1/${apiKey.name}`);
  const revokedAt = performance.now();
  await refusedEverywhere(secret, revokedAt);
  for (const streams of opened) assert.deepEqual(await Promise.all(streams), ended);
  const endedMs = performance.now() - revokedAt;
  assert.ok(endedMs < endedMsMax, `streams continued for ${endedMs} ms`);
  for (const stream of others) {
    await answersAudio(stream);
    stream.terminate();
  }
});

test("a revoked client key with its JWTs, an expired key, and all keys of a disabled account are refused within 1 s", async () => {
  const { privateKey, publicKey } = newKeyPair("ES256");
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const client = await call("POST", "/v1/clientKeys", { displayName: "page", publicKey: pem });
  const iat = Math.floor(Date.now() / 1000);
  const { clientId: iss, keyId: kid } = client;
  const claims = { iss, sub: iss, aud: publicUrl, iat, exp: iat + 600 };
  const jwt = signJwt({ alg: "ES256", kid }, claims, privateKey);
  const expiring = await call("POST", "/v1/apiKeys", { displayName: "not for long" });
  const disabled = await addAccount();
  const rows: [token: string, revoke: () => Promise<unknown>][] = [
    [jwt, () => call("DELETE", `/v1/${client.name}`)],
    [
      expiring.secret,
      () =>
        cluster.postgres.query(`update api_key set expires_at = now()
       where id = '${expiring.apiKey.name.split("/")[1]}'`),
    ],
    [
      disabled.token,
      () =>
        cluster.postgres.query(`update account set disabled_at = now()
       where id = '${disabled.id}'`),
    ],
  ];
  for (const [token, revoke] of rows) {
    const streams = await Promise.all(nodes.map(async (node) => listen(node, token)));
    await revoke();
    const revokedAt = performance.now();
    await refusedEverywhere(token, revokedAt);
    for (const { closed } of streams) assert.equal(await closed, 1008);
    assert.ok(performance.now() - revokedAt < endedMsMax);
  }
});

/** Creates another account with a key, as an operator does. */
async function addAccount(): Promise<{ id: string; token: string }> {
  const id = newId();
  const key = newApiKey();
  await cluster.postgres.query(`insert into account (id, display_name) values ('${id}', 'Other')`);
  await cluster.postgres
    .query(`insert into api_key (id, account_id, display_name, scopes, secret_hash)
    values ('${key.id}', '${id}', '', '{speech}', '\\x${key.secretHash.toString("hex")}')`);
  return { id, token: key.token };
}

test("a stream token opens one socket, on either node, which ends with the key that created the token", async () => {
  const mint = async (): Promise<string> => (await call("POST", "/v1/streamTokens", {})).token;
  const open = async (node: ClusterNode, token: string) =>
    openStream(addressOf(node), { token }).then(
      (stream) => {
        stream.terminate();
        return "open";
      },
      (error: Error) => error.message,
    );
  const [here, there] = nodes;
  // Only one of many concurrent sockets on both nodes is accepted.
  const token = await mint();
  const tries = Array.from({ length: 10 }, (_, at) => open(at % 2 === 0 ? here : there, token));
  const results = await Promise.all(tries);
  assert.deepEqual(results.toSorted(), [...Array.from({ length: 9 }, () => "HTTP 401"), "open"]);
  assert.equal(await open(there, token), "HTTP 401");
  // A token is refused after a minute.
  const { token: late, expireTime } = await call("POST", "/v1/streamTokens", {});
  const seconds = (Date.parse(expireTime) - Date.now()) / 1000;
  assert.ok(seconds > 30 && seconds <= 60, expireTime);
  const early = await mint();
  await pass(50);
  assert.equal(await open(there, early), "open");
  await pass(10);
  assert.equal(await open(there, late), "HTTP 401");
  // A token is refused after its key is revoked, and the stream that it opened ends with the key.
  const { secret, apiKey } = await call("POST", "/v1/apiKeys", { displayName: "behind tokens" });
  const byKey = async (): Promise<string> => {
    const headers = { authorization: `Bearer ${secret}` };
    const made = { method: "POST", path: "/v1/streamTokens", body: {}, headers };
    return (await callRest(addressOf(there), undefined, made)).json.token;
  };
  const stream = await listen(here, await byKey());
  const unused = await byKey();
  await call("DELETE", `/v1/${apiKey.name}`);
  assert.equal(await open(there, unused), "HTTP 401");
  assert.equal(await stream.closed, 1008);
  assert.equal(stream.messages.at(-1)?.error?.code, 16);
});

/** Makes every stream token expire this many seconds earlier. */
async function pass(seconds: number): Promise<void> {
  await cluster.postgres.query(
    `update stream_token set expires_at = expires_at - interval '${seconds} s'`,
  );
}

test("a node with a wrong clock accepts JWTs within 60 s of skew, and no others", async () => {
  const { privateKey, publicKey } = newKeyPair("EdDSA");
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const client = await call("POST", "/v1/clientKeys", { displayName: "skew", publicKey: pem });
  const { clientId: iss, keyId: kid } = client;
  const [, node] = nodes;
  /**
   * Returns the status of a call with a token that is created now and expires after this many
   * seconds.
   */
  const statusWith = async (seconds: number): Promise<number> => {
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss, sub: iss, aud: publicUrl, iat, exp: iat + seconds };
    const token = signJwt({ alg: "EdDSA", kid }, claims, privateKey);
    const headers = { authorization: `Bearer ${token}` };
    const { status } = await callRest(addressOf(node), undefined, {
      method: "GET",
      path: list,
      headers,
    });
    return status;
  };
  // authenticate-jwt.test.ts tests this to the second. In this test, seconds may pass between
  // signing and the check.
  const rows = [
    { aheadSeconds: -80, status: 401 },
    { aheadSeconds: -40, status: 200 },
    { aheadSeconds: 40, status: 200 },
    { aheadSeconds: 80, status: 401 },
  ];
  for (const { aheadSeconds, status } of rows) {
    node.clock.move(aheadSeconds);
    await until(async () => Math.abs((await aheadOf(node)) - aheadSeconds) < 5);
    assert.equal(await statusWith(1), status, `${aheadSeconds} s ahead`);
  }
  node.clock.move(0);
  await until(async () => Math.abs(await aheadOf(node)) < 5);
});

/**
 * Returns how many seconds the clock of a node is ahead, according to the Date header of its
 * responses.
 */
async function aheadOf(node: ClusterNode): Promise<number> {
  const { headers } = await fetch(`${addressOf(node)}/healthz`);
  return (Date.parse(headers.get("date") ?? "") - Date.now()) / 1000;
}

test("streams continue while the database is unavailable, and end once it is available again and their key is revoked", async () => {
  const { secret, apiKey } = await call("POST", "/v1/apiKeys", { displayName: "patient" });
  const streams = await Promise.all(nodes.map(async (node) => listen(node, secret)));
  await cluster.postgres.kill();
  const blind = `"event":"auth.streams_not_checked"`;
  await until(() =>
    Promise.resolve(nodes.every(({ service }) => service.output().errors.includes(blind))),
  );
  for (const stream of streams) await answersAudio(stream);
  await cluster.postgres.start();
  await until(async () => (await call("DELETE", `/v1/${apiKey.name}`)) !== undefined);
  for (const { closed } of streams) assert.equal(await closed, 1008);
});

test("limits apply across both nodes; the streams of a killed node stop counting when its lease expires", async () => {
  const { id, token } = await addAccount();
  const setLimits = async (limits: object): Promise<unknown> =>
    cluster.postgres.query(
      `update account set limits = '${JSON.stringify(limits)}' where id = '${id}'`,
    );
  await setLimits({ concurrentStreams: 2 });
  const [here, there] = nodes;
  await listen(there, token);
  await listen(there, token);
  /** Returns the error of a third stream on the other node. */
  const third = async (): Promise<string> =>
    openStream(addressOf(here), { token }).then(
      (stream) => {
        stream.terminate();
        return "open";
      },
      (error: Error) => error.message,
    );
  // A node's counts for the other node are up to a second old.
  await until(async () => (await third()) === "HTTP 429");
  await there.service.crash();
  await until(async () => (await third()) === "open", 60_000);
  // The operator changes the limits while only one node runs.
  await setLimits({ requestsPerMinute: 1 });
  await until(async () => (await third()) === "HTTP 429");
  await setLimits({});
  await until(async () => (await third()) === "open");
});
