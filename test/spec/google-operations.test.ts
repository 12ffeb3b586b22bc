// LongRunningRecognize and google.longrunning.Operations: Google's own client, over gRPC and REST,
// on jobs of this service.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { protos, SpeechClient, v1p1beta1 } from "@google-cloud/speech";
import { credentials } from "@grpc/grpc-js";
import { openDatabase } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { joined, samplesOfWav, silence, speak } from "../fixtures/flite.ts";
import { openMediaHost, type MediaHost } from "./media-host.ts";
import { callRest, openTestService, pcmOf, type TestService } from "./service.ts";

const config = {
  encoding: "LINEAR16",
  sampleRateHertz: 16_000,
  languageCode: "en-US",
  enableWordTimeOffsets: true,
} as const;
let service: TestService;
let host: MediaHost;
/** Google's client over gRPC without TLS, which sends the key as a header of each call. */
let grpc: SpeechClient;
/** Google's client over REST. */
let rest: SpeechClient;
/** Five seconds: a sentence between silences. */
let speech: Buffer;
let wav: Buffer;

before(async () => {
  wav = speak("the harbor is quiet in the early morning");
  const samples = joined(silence(1000), samplesOfWav(wav), silence(1500));
  speech = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  host = await openMediaHost({
    "/talk.wav": wav,
    "/hangs.wav": () => {},
    "/text": Buffer.from("a"),
  });
  service = await openTestService();
  const { hostname: apiEndpoint, port } = new URL(service.address);
  const endpoint = { apiEndpoint, port: Number(port), apiKey: service.key };
  grpc = new SpeechClient({ ...endpoint, sslCreds: credentials.createInsecure() });
  rest = new SpeechClient({ ...endpoint, fallback: true, protocol: "http" });
});
after(async () => {
  await Promise.all([grpc.close(), rest.close()]);
  await service[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

type Request = protos.google.cloud.speech.v1.ILongRunningRecognizeRequest;
type Results = protos.google.cloud.speech.v1.ISpeechRecognitionResult[];

function optionsOf(headers: Readonly<Record<string, string>> = {}) {
  return { otherArgs: { headers: { "x-goog-api-key": service.key, ...headers } } };
}

/** Begins an operation. Its polls have short pauses. */
async function begin(client: SpeechClient, request: Request, headers?: Record<string, string>) {
  const [operation] = await client.longRunningRecognize(request, optionsOf(headers));
  operation.backoffSettings.initialRetryDelayMillis = 100;
  operation.backoffSettings.maxRetryDelayMillis = 500;
  return operation;
}

function textsOf(results: Results | null | undefined) {
  return results?.map(({ alternatives }) => alternatives?.[0]?.transcript);
}

async function failure(call: Promise<unknown>) {
  return await call.then(
    () => assert.fail("the call was answered"),
    (error: { code: number; message: string; reason?: string }) => error,
  );
}

/** Calls REST with the service's key, or with another one. */
async function send(method: string, path: string, body?: object, key = service.key) {
  const headers = { "x-goog-api-key": key };
  return await callRest(service.address, undefined, { method, path, headers, body });
}

/** Returns a key of another account. */
async function keyOfOther(): Promise<string> {
  const folder = join(service.dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  const { db } = database;
  const scopes = ["transcripts.read", "transcripts.write"] as const;
  return (await addApiKey(db, await addAccount(db), [...scopes])).token;
}

for (const protocol of ["gRPC", "REST"]) {
  test(`over ${protocol}, an operation gives the text of Recognize, and its words`, async () => {
    const client = protocol === "gRPC" ? grpc : rest;
    const content = protocol === "gRPC" ? speech : speech.toString("base64");
    const request = { config, audio: { content } };
    const [{ results: short }] = await client.recognize(request, optionsOf());
    const operation = await begin(client, request);
    assert.match(operation.name ?? "", /^operations\/[0-9a-f-]{36}$/);
    const [{ results }, metadata] = await operation.promise();
    assert.deepEqual(textsOf(results), textsOf(short));
    assert.deepEqual(textsOf(results), ["the harbor is quiet in the early morning"]);
    assert.equal(metadata.progressPercent, 100);
    assert.ok(Number(metadata.startTime?.seconds) > 1_700_000_000);
    const { alternatives, languageCode, resultEndTime } = results?.[0] ?? {};
    assert.equal(languageCode, "en-US");
    const words = alternatives?.[0]?.words ?? [];
    assert.equal(words.map(({ word }) => word).join(" "), textsOf(short)?.[0]);
    assert.ok(Number(resultEndTime?.seconds) >= Number(words.at(-1)?.endTime?.seconds));
    // The recording is an ordinary transcript.
    const id = operation.name?.replace("operations/", "") ?? "";
    const { json: job } = await service.call("GET", `/v1alpha1/transcriptjob/${id}`);
    const { json: transcript } = await service.call("GET", `/v1alpha1/${job.transcript}`);
    assert.equal(transcript.metadata.dataSource, "UPLOAD");
  });
}

test("a recording is fetched from its uri, without words unless they are asked for", async () => {
  const audio = { uri: `${host.address}/talk.wav` };
  const operation = await begin(grpc, { config: { languageCode: "en-US" }, audio });
  const [{ results }, metadata] = await operation.promise();
  assert.equal(textsOf(results)?.join(" "), "the harbor is quiet in the early morning");
  assert.deepEqual(results?.[0]?.alternatives?.[0]?.words, []);
  assert.equal(metadata.uri, audio.uri);
  const { json } = await send("GET", `/v1/${operation.name}`);
  assert.equal(json.done, true);
  assert.deepEqual(textsOf(json.response.results), textsOf(results));
  assert.match(json.metadata["@type"], /google\.cloud\.speech\.v1\.LongRunningRecognizeMetadata$/);
  const other = await send("GET", `/v1/operations/${operation.name}`);
  assert.deepEqual(other.json, json, "the path of Google's REST client");
  const { json: list } = await send("GET", "/v1/operations?pageSize=1");
  assert.deepEqual([list.operations[0].name, list.operations[0].done], [operation.name, true]);
  assert.equal(list.operations[0].response, undefined);
  assert.equal((await send("DELETE", `/v1/${operation.name}`)).status, 200);
  assert.equal((await send("GET", `/v1/${operation.name}`)).status, 404);
});

test("an operation is cancelled, waited for, and fails as its job does", async () => {
  const audio = { uri: `${host.address}/hangs.wav` };
  const hanging = await begin(grpc, { config, audio });
  const { json: waited } = await send("POST", `/v1/${hanging.name}:wait`, { timeout: "0.2s" });
  assert.deepEqual([waited.done ?? false, waited.name], [false, hanging.name]);
  const ended = send("POST", `/v1/${hanging.name}:wait`, { timeout: "60s" });
  assert.equal((await send("POST", `/v1/${hanging.name}:cancel`, {})).status, 200);
  const { json } = await ended;
  assert.deepEqual([json.done, json.error?.code], [true, 1]);
  assert.equal((await failure(hanging.promise())).code, 1);
  const again = await send("POST", `/v1/${hanging.name}:cancel`, {});
  assert.equal(again.status, 200, "what is done stays as it is");
  const text = await begin(rest, { config, audio: { uri: `${host.address}/text` } });
  const failed = await failure(text.promise());
  assert.equal(failed.code, 3, failed.message);
  const deleted = await begin(grpc, { config, audio: { content: pcmOf(wav) } });
  await deleted.promise();
  const { json: done } = await service.call(
    "GET",
    `/v1alpha1/transcriptjob/${deleted.name?.slice("operations/".length)}`,
  );
  assert.equal((await service.call("DELETE", `/v1alpha1/${done.transcript}`)).status, 200);
  const { json: gone } = await send("GET", `/v1/${deleted.name}`);
  assert.deepEqual([gone.done, gone.error.code], [true, 5]);
});

for (const protocol of ["gRPC", "REST"]) {
  test(`over ${protocol}, Google's client of v1p1beta1 works as that of v1`, async () => {
    const { hostname: apiEndpoint, port } = new URL(service.address);
    const isGrpc = protocol === "gRPC";
    const beta = new v1p1beta1.SpeechClient({
      apiEndpoint,
      port: Number(port),
      apiKey: service.key,
      ...(isGrpc
        ? { sslCreds: credentials.createInsecure() }
        : { fallback: true, protocol: "http" }),
    });
    try {
      const content = isGrpc ? speech : speech.toString("base64");
      const audio = { content };
      // The last three are of v1p1beta1 only, or were so first.
      const wanted = {
        ...config,
        enableSpeakerDiarization: true,
        diarizationSpeakerCount: 2,
        alternativeLanguageCodes: ["is-IS"],
      };
      const text = "the harbor is quiet in the early morning";
      const [{ results: short }] = await beta.recognize({ config: wanted, audio }, optionsOf());
      assert.equal(short?.[0]?.alternatives?.[0]?.transcript, text);
      const [operation] = await beta.longRunningRecognize({ config: wanted, audio }, optionsOf());
      operation.backoffSettings.initialRetryDelayMillis = 100;
      operation.backoffSettings.maxRetryDelayMillis = 500;
      const [{ results }, metadata] = await operation.promise();
      assert.deepEqual(textsOf(results), [text]);
      assert.equal(results?.[0]?.alternatives?.[0]?.words?.length, text.split(" ").length);
      assert.equal(metadata.progressPercent, 100);
      const { json } = await send("GET", "/v1p1beta1/operations?pageSize=1");
      assert.equal(json.operations[0].name, operation.name);
      const { json: one } = await send("GET", `/v1p1beta1/operations/${operation.name}`);
      assert.equal(one.done, true, "the path of Google's REST client");
      const unknown = beta.recognize({ config: { languageCode: "xx-XX" }, audio }, optionsOf());
      assert.equal((await failure(unknown)).code, 3);
    } finally {
      await beta.close();
    }
  });
}

test("streamingRecognize() of v1p1beta1 returns the final results of v1", async () => {
  const live = async (client: SpeechClient | InstanceType<typeof v1p1beta1.SpeechClient>) => {
    const stream = client._streamingRecognize(optionsOf());
    stream.write({ streamingConfig: { config } });
    for (let at = 0; at < speech.length; at += 3200) {
      stream.write({ audioContent: speech.subarray(at, at + 3200) });
    }
    stream.end();
    const answers = await Array.fromAsync(stream);
    return answers.flatMap(({ results }: { results: Results }) =>
      textsOf(results)?.map((text) => text?.trim()),
    );
  };
  const { hostname: apiEndpoint, port } = new URL(service.address);
  const endpoint = { apiEndpoint, port: Number(port), apiKey: service.key };
  const beta = new v1p1beta1.SpeechClient({ ...endpoint, sslCreds: credentials.createInsecure() });
  try {
    const texts = await live(beta);
    assert.deepEqual(texts, await live(grpc));
    assert.deepEqual(texts, ["the harbor is quiet in the early morning"]);
  } finally {
    await beta.close();
  }
});

test("an Idempotency-Key answers the first operation, also with content", async () => {
  const request = { config, audio: { content: pcmOf(wav) } };
  const headers = { "idempotency-key": "operation-once" };
  const first = await begin(grpc, request, headers);
  const second = await begin(
    rest,
    { config, audio: { content: pcmOf(wav).toString("base64") } },
    headers,
  );
  assert.equal(second.name, first.name);
  for (const audio of [{ uri: `${host.address}/talk.wav` }, { content: speech }]) {
    const other = begin(grpc, { config, audio }, headers);
    assert.equal((await failure(other)).reason, "IDEMPOTENCY_KEY_USED");
  }
  await first.promise();
});

test("only the account of an operation finds it", async () => {
  const operation = await begin(grpc, { config, audio: { uri: `${host.address}/hangs.wav` } });
  const other = await keyOfOther();
  const unknown = "operations/0198c5a2-6b1e-7f3a-9d24-1c5e8a70b3d1";
  for (const [name, key] of [
    [operation.name, other],
    [unknown, service.key],
    ["operations/1", service.key],
  ] as const) {
    const answers = await Promise.all([
      send("GET", `/v1/${name}`, undefined, key),
      send("POST", `/v1/${name}:cancel`, {}, key),
      send("POST", `/v1/${name}:wait`, { timeout: "0s" }, key),
      send("DELETE", `/v1/${name}`, undefined, key),
    ]);
    for (const { status, json } of answers) {
      assert.equal(status, 404);
      assert.equal(json.message, `there is no operation "${name}"`);
    }
  }
  const { GetOperationRequest } = protos.google.longrunning;
  const named = GetOperationRequest.create({ name: unknown });
  const get = grpc.operationsClient.getOperation(named, optionsOf());
  assert.equal((await failure(get)).code, 5);
  assert.deepEqual((await send("GET", "/v1/operations", undefined, other)).json.operations, []);
  const { json } = await send("GET", `/v1/${operation.name}`);
  assert.equal(json.done, undefined, "it is still there");
  assert.equal((await send("DELETE", `/v1/${operation.name}`)).status, 200);
});

test("invalid requests are refused with every violation, and nothing is stored", async () => {
  const rows: [request: object, fields: string[]][] = [
    [{}, ["config", "audio"]],
    [
      { config: { ...config, languageCode: "xx-XX" }, audio: { uri: "gs://bucket/talk.wav" } },
      ["config.languageCode", "audio.uri"],
    ],
    [{ config, audio: { uri: "ftp://example.org/a" } }, ["audio.uri"]],
    [
      { config, audio: { content: "AAAA" }, outputConfig: { gcsUri: "gs://b/o" } },
      ["audio.content", "outputConfig.gcsUri"],
    ],
    [
      { config: { ...config, sampleRateHertz: 8000 }, audio: { content: wav.toString("base64") } },
      ["config.sampleRateHertz"],
    ],
    [
      { config, audio: { content: Buffer.alloc(10_485_761).toString("base64") } },
      ["audio.content"],
    ],
  ];
  for (const [request, fields] of rows) {
    const { status, json } = await send("POST", "/v1/speech:longrunningrecognize", request);
    assert.equal(status, 400);
    const bad = json.details.find((each: { fieldViolations?: object }) => each.fieldViolations);
    assert.deepEqual(
      bad.fieldViolations.map(({ field }: { field: string }) => field),
      fields,
    );
  }
  const { json } = await send("GET", "/v1/operations?filter=done");
  assert.match(json.message, /^filter: /);
});
