// Clients created for Google's speech service work unchanged with a key of this service: Google's
// own client, over gRPC and REST.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createServer as createTlsServer, type Server as TlsServer } from "node:tls";
import type { protos } from "@google-cloud/speech";
import { speak } from "../fixtures/flite.ts";
import { callRest, openTestService, pcmOf, type TestService } from "./service.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "./stream.ts";
import { checkStability } from "./check-stability.ts";

const folder = mkdtempSync(join(tmpdir(), "hlust-google-"));
const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
execFileSync(
  "openssl",
  ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1"]
    .concat(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"])
    .concat(["-keyout", keyFile, "-out", certFile]),
  { stdio: "ignore" },
);
// grpc-js reads this variable once, when it is loaded.
process.env["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = certFile;
const { SpeechClient } = await import("@google-cloud/speech");
const { credentials } = await import("@grpc/grpc-js");
type Client = InstanceType<typeof SpeechClient>;
type Streaming = Parameters<Client["streamingRecognize"]>[0];
type StreamingAnswer = protos.google.cloud.speech.v1.IStreamingRecognizeResponse;
type CallOptions = { otherArgs?: { headers: Record<string, string> } };

const sentences = ["thank you very much for your letter", "the weather is cold and dark today"];
const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" } as const;
let service: TestService;
/** Google's client without TLS. */
let plain: Client;
/** A proxy that terminates TLS, like one in front of a public service. */
let proxy: TlsServer;
/** The two sentences, each followed by 1.5 s of silence. */
let speech: Buffer;
/** The options with the key for a client without TLS: a header of each call. */
let withKey: CallOptions;
const clients: Client[] = [];

before(async () => {
  service = await openTestService();
  const pauses = Buffer.alloc(48_000);
  speech = Buffer.concat(sentences.flatMap((text) => [pcmOf(speak(text)), pauses]));
  withKey = { otherArgs: { headers: { "x-goog-api-key": service.key } } };
  plain = newClient({
    ...endpointOf(service.address),
    sslCreds: credentials.createInsecure(),
    // The client does not send this key without TLS, but with the key it does not search the
    // machine for Google's credentials.
    apiKey: service.key,
  });
  const { port } = endpointOf(service.address);
  proxy = createTlsServer(
    { key: readFileSync(keyFile), cert: readFileSync(certFile), ALPNProtocols: ["h2"] },
    (socket) => {
      const inner = connect(port, "127.0.0.1");
      socket.on("error", () => inner.destroy()).pipe(inner);
      inner.on("error", () => socket.destroy()).pipe(socket);
    },
  );
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  proxy.close();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type ClientOptions = NonNullable<ConstructorParameters<typeof SpeechClient>[0]>;

function newClient(options: ClientOptions): Client {
  const client = new SpeechClient(options);
  clients.push(client);
  return client;
}

function endpointOf(address: string): { apiEndpoint: string; port: number } {
  const { hostname, port } = new URL(address);
  return { apiEndpoint: hostname, port: Number(port) };
}

function tlsEndpoint(): { apiEndpoint: string; port: number } {
  const address = proxy.address();
  assert.ok(typeof address === "object" && address !== null);
  return { apiEndpoint: "localhost", port: address.port };
}

/**
 * Sends audio in chunks and half-closes, as Google's samples do. Returns all messages until the
 * service ends the stream with OK.
 */
async function recognizeLive(
  streaming: Streaming,
  { client = plain, options = withKey }: { client?: Client; options?: CallOptions } = {},
): Promise<StreamingAnswer[]> {
  const stream = client.streamingRecognize(streaming, options);
  for (let at = 0; at < speech.length; at += 3200) stream.write(speech.subarray(at, at + 3200));
  stream.end();
  return await Array.fromAsync(stream);
}

function finals(answers: readonly StreamingAnswer[]) {
  return answers.flatMap(({ results }) => results ?? []).filter(({ isFinal }) => isFinal);
}

/** Returns the failure of a call as Google's client reports it. */
async function failure(call: Promise<unknown>) {
  return await call.then(
    () => assert.fail("the call was answered"),
    (error: {
      code: number;
      details: string;
      reason?: string;
      domain?: string;
      statusDetails?: { fieldViolations?: { field: string; description: string }[] }[];
    }) => error,
  );
}

test("recognize() returns the results of §4.8, with the end and the language of each", async () => {
  const request = {
    config: { ...config, enableWordTimeOffsets: true },
    audio: { content: speech },
  };
  const [{ results }] = await plain.recognize(request, withKey);
  const { json } = await service.call("POST", "/v2beta1/speech:recognize", {
    ...request,
    audio: { content: speech.toString("base64") },
  });
  assert.equal(json.results.length, sentences.length);
  assert.deepEqual(
    results?.map(({ alternatives }) => alternatives?.[0]?.transcript),
    json.results.map((each: { alternatives: { transcript: string }[] }) => {
      return each.alternatives[0]?.transcript;
    }),
  );
  const ends = results?.map((each) => {
    assert.equal(each.languageCode, "en-US");
    const words = each.alternatives?.[0]?.words ?? [];
    return [secondsIn(words.at(-1)?.endTime), secondsIn(each.resultEndTime)];
  });
  for (const [wordEnd = 0, end = 0] of ends ?? []) {
    assert.ok(wordEnd > 1 && end >= wordEnd && end < wordEnd + 1, `${wordEnd} ${end}`);
  }
  assert.doesNotMatch(JSON.stringify(json), /resultEndTime|languageCode/, "only Google's");
});

/** Returns the seconds of a duration, which Google's durations store as a string or as a Long. */
function secondsIn(duration: { seconds?: unknown; nanos?: number | null } | null | undefined) {
  return (Number(duration?.seconds ?? 0) * 1e9 + (duration?.nanos ?? 0)) / 1e9;
}

test("facts about the recording, and fields that only Google's API has, are ignored", async () => {
  const request = {
    config: {
      ...config,
      audioChannelCount: 1,
      model: "latest_long",
      useEnhanced: true,
      speechContexts: [{ phrases: ["letter"], boost: 5 }],
      diarizationConfig: { enableSpeakerDiarization: true, minSpeakerCount: 1 },
      metadata: {
        interactionType: "DICTATION" as const,
        industryNaicsCodeOfAudio: 519_190,
        microphoneDistance: "NEARFIELD" as const,
        originalMediaType: "AUDIO" as const,
        recordingDeviceType: "SMARTPHONE" as const,
        recordingDeviceName: "sími",
        originalMimeType: "audio/mp3",
        audioTopic: "bréf",
      },
      enableSpokenPunctuation: { value: true },
    },
    audio: { content: pcmOf(speak("thank you very much for your letter")) },
  };
  const [{ results }] = await plain.recognize(request, withKey);
  assert.equal(results?.[0]?.alternatives?.[0]?.transcript, sentences[0]);
});

test("streamingRecognize() returns the final results of §4.9 once the client half-closes", async () => {
  const answers = await recognizeLive({
    config: { ...config, enableWordTimeOffsets: true },
    interimResults: true,
  });
  const socket = await openStream(service.address, { token: service.key });
  socket.send(streamingConfig({ enableWordTimeOffsets: true }));
  socket.sendAudio(speech, 3200);
  socket.send({ audioContent: "" });
  assert.equal(await socket.closed, 1000);
  const ours = finalsOf(socket.messages);
  assert.deepEqual(
    finals(answers).map(({ alternatives }) => alternatives?.[0]?.transcript),
    ours.map(({ transcript }) => transcript),
  );
  assert.deepEqual(
    finals(answers).map(({ alternatives }) =>
      alternatives?.[0]?.words?.map(({ startTime }) => secondsIn(startTime)),
    ),
    ours.map(({ words }) => words?.map(({ startTime }) => secondsOf(startTime))),
  );
  assert.ok(answers.length > ours.length + 4, "interim results");
  // Google's sample for endless streaming resumes at the end of each result.
  let before = 0;
  for (const result of answers.flatMap(({ results }) => results ?? [])) {
    const end = secondsIn(result.resultEndTime);
    assert.ok(end > 0 && (result.isFinal || end > before), `${before} ${end}`);
    assert.equal(result.languageCode, "en-US");
    before = end;
  }
  checkStability(answers.flatMap(({ results }) => results ?? []));
  checkStability(socket.messages.flatMap(({ result }) => result?.results ?? []));
  assert.doesNotMatch(
    JSON.stringify(socket.messages),
    /resultEndTime|languageCode/,
    "only Google's",
  );
});

test("with singleUtterance, the stream returns the final result and the event with its time, and then ends", async () => {
  const answers = await recognizeLive({ config, singleUtterance: true });
  assert.equal(finals(answers).length, 1);
  const last = answers.at(-1);
  assert.equal(last?.speechEventType, "END_OF_SINGLE_UTTERANCE");
  assert.equal(secondsIn(last?.speechEventTime), secondsIn(finals(answers)[0]?.resultEndTime));
});

test("activity events are those of Google's API, whose number 4 is a timeout", async () => {
  const answers = await recognizeLive({
    config: { ...config, languageCode: "is-IS" },
    enableVoiceActivityEvents: true,
  });
  const events = answers
    .filter(({ results }) => results?.length === 0)
    .map(({ speechEventType }) => speechEventType);
  const utterance = ["SPEECH_ACTIVITY_BEGIN", "SPEECH_ACTIVITY_END"];
  assert.deepEqual(
    events,
    sentences.flatMap(() => utterance),
  );
});

test("errors are a google.rpc.Status with the message, the reason and every violation", async () => {
  const error = await failure(plain.recognize({ config: { encoding: "AMR" }, audio: {} }, withKey));
  assert.deepEqual([error.code, error.reason, error.domain], [3, "INVALID_ARGUMENT", "hlust"]);
  const violations = error.statusDetails?.flatMap((each) => each.fieldViolations ?? []) ?? [];
  const fields = ["encoding", "sampleRateHertz", "languageCode"].map((name) => `config.${name}`);
  assert.deepEqual(
    violations.map(({ field }) => field),
    [...fields, "audio.content"],
  );
  assert.equal(
    error.details,
    violations.map(({ field, description }) => `${field}: ${description}`).join("; "),
    "the message is readable: only characters that must be encoded are",
  );
  const streaming = await failure(recognizeLive({ config: { ...config, languageCode: "é-%41" } }));
  assert.equal(streaming.code, 3);
  assert.match(streaming.details, /languageCode: is "é-%41", which has no installed model/);
});

test("a key is required, in a form that Google's clients can send", async () => {
  const call = async (headers: Record<string, string>) => {
    const { reason } = await failure(plain.recognize({}, { otherArgs: { headers } }));
    return reason;
  };
  const { key } = service;
  const rows: [Record<string, string>, string][] = [
    [{}, "TOKEN_MISSING"],
    [{ "x-goog-api-key": "AIzaSomething" }, "TOKEN_INVALID"],
    [{ "x-goog-api-key": key, authorization: "Bearer other" }, "SEVERAL_TOKENS"],
    // INVALID_ARGUMENT means that the call is authenticated and that its empty request is invalid.
    [{ "x-goog-api-key": key, authorization: `Bearer ${key}` }, "INVALID_ARGUMENT"],
    [{ "x-goog-api-key": key }, "INVALID_ARGUMENT"],
    [{ authorization: `Bearer ${key}` }, "INVALID_ARGUMENT"],
  ];
  for (const [headers, reason] of rows) assert.equal(await call(headers), reason);
  assert.equal((await failure(recognizeLive({ config }, { options: {} }))).code, 16);
});

test("with TLS, the apiKey option of Google's client is enough", async () => {
  const client = newClient({ ...tlsEndpoint(), apiKey: service.key });
  const audio = { content: speech };
  const [{ results }] = await client.recognize({ config, audio });
  assert.equal(results?.length, sentences.length);
  const streamed = await recognizeLive({ config }, { client, options: {} });
  assert.equal(finals(streamed).length, sentences.length);
  const stranger = newClient({ ...tlsEndpoint(), apiKey: "AIzaSomething" });
  assert.equal((await failure(stranger.recognize({ config, audio }))).reason, "TOKEN_INVALID");
});

test("REST serves Google's client without gRPC, and plain requests", async () => {
  const client = newClient({
    ...endpointOf(service.address),
    fallback: true,
    protocol: "http",
    apiKey: service.key,
  });
  const audio = { content: pcmOf(speak("thank you very much for your letter")).toString("base64") };
  const [{ results }] = await client.recognize({ config, audio });
  assert.equal(results?.[0]?.alternatives?.[0]?.transcript, sentences[0]);
  const call = { method: "POST", path: "/v1/speech:recognize", body: { config, audio } };
  const headers = { "x-goog-api-key": service.key };
  const { status, json } = await callRest(service.address, undefined, { ...call, headers });
  assert.equal(status, 200);
  assert.equal(json.results[0].languageCode, "en-US");
  assert.match(json.results[0].resultEndTime, /^2(\.\d+)?s$/);
  assert.equal((await callRest(service.address, undefined, call)).status, 401);
});
