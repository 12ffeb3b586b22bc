// §4.8: recognize short audio.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { speak } from "../fixtures/flite.ts";
import { fieldsOf } from "./jobs.ts";
import { callRest, openTestService, pcmOf, type TestService } from "./service.ts";
import { secondsOf } from "./stream.ts";

const path = "/v2beta1/speech:recognize";
const sentence = "thank you very much for your letter";
const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
let service: TestService;
let wav: Buffer;

before(async () => {
  service = await openTestService();
  wav = speak(sentence);
});
after(() => service[Symbol.asyncDispose]());

const content = (samples: Uint8Array) => Buffer.from(samples).toString("base64");
const recognize = (body: unknown) => service.call("POST", path, body);

test("speech is recognized, with alternatives and word times", async () => {
  const body = {
    config: { ...config, enableWordTimeOffsets: true, maxAlternatives: 5 },
    audio: { content: content(pcmOf(wav)) },
  };
  const { status, json } = await recognize(body);
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json), ["results"]);
  const alternatives = json.results.flatMap(
    (result: { alternatives: object[] }) => result.alternatives,
  );
  const [best] = alternatives;
  assert.equal(best.transcript, sentence);
  assert.ok(best.confidence > 0 && best.confidence <= 1);
  assert.ok(alternatives.length > 1 && alternatives.length <= 5);
  const texts = alternatives.map(({ transcript }: { transcript: string }) => transcript);
  assert.equal(new Set(texts).size, texts.length);

  assert.deepEqual(
    best.words.map(({ word }: { word: string }) => word),
    sentence.split(" "),
  );
  const lengthSeconds = pcmOf(wav).length / 32_000;
  let before = 0;
  for (const { startTime, endTime } of best.words) {
    assert.match(startTime, /^\d+(\.\d{3}(\d{3}){0,2})?s$/);
    assert.ok(secondsOf(startTime) >= before && secondsOf(endTime) > secondsOf(startTime));
    before = secondsOf(endTime);
  }
  assert.ok(before <= lengthSeconds);
});

test("words are omitted unless requested, and one alternative is returned by default", async () => {
  const { json } = await recognize({ config, audio: { content: content(pcmOf(wav)) } });
  assert.equal(json.results.length, 1);
  assert.equal(json.results[0].alternatives.length, 1);
  assert.equal("words" in json.results[0].alternatives[0], false);
});

test("every JSON form is accepted: snake_case, numbers for enums, quoted integers, URL-safe base64, a WAV header", async () => {
  const audio = { content: Buffer.from(wav).toString("base64url") };
  const quoted = { encoding: 1, sample_rate_hertz: "16000", language_code: "en-US" };
  const { status, json } = await recognize({ config: quoted, audio });
  assert.equal(status, 200);
  assert.equal(json.results[0].alternatives[0].transcript, sentence);
});

test("every sample rate is recognized", async () => {
  const samples = new Int16Array(new Uint8Array(pcmOf(wav)).buffer);
  for (const rate of [8_000, 48_000]) {
    const audio = { content: content(new Uint8Array(resampled(samples, rate).buffer)) };
    const { json } = await recognize({ config: { ...config, sampleRateHertz: rate }, audio });
    assert.match(
      json.results[0]?.alternatives[0].transcript ?? "",
      /\b(thank|much|letter)\b/,
      `${rate} Hz`,
    );
  }
});

/** Resamples by linear interpolation, which is imprecise but good enough for the recognizer. */
function resampled(samples: Int16Array, rate: number): Int16Array {
  const ratio = 16_000 / rate;
  return Int16Array.from({ length: Math.floor(samples.length / ratio) - 1 }, (_, at) => {
    const place = at * ratio;
    const [left = 0, right = 0] = samples.subarray(Math.floor(place), Math.floor(place) + 2);
    return left + (right - left) * (place % 1);
  });
}

test("silence and noise produce no results", async () => {
  const noise = Int16Array.from({ length: 48_000 }, (_, at) => ((at * 7919) % 2003) - 1001);
  for (const samples of [new Int16Array(48_000), noise]) {
    const audio = { content: content(new Uint8Array(samples.buffer)) };
    const { status, json } = await recognize({ config, audio });
    assert.equal(status, 200);
    assert.deepEqual(json, { results: [] });
  }
});

test("audio of 30 s is refused at every sample rate, and shorter audio is accepted", async () => {
  for (const rate of [8_000, 48_000]) {
    const own = { ...config, sampleRateHertz: rate };
    const of = (samples: number) => ({
      config: own,
      audio: { content: content(new Uint8Array(samples * 2)) },
    });
    assert.equal((await recognize(of(30 * rate - 1))).status, 200, `29.999 s at ${rate} Hz`);
    const { status, json } = await recognize(of(30 * rate));
    assert.equal(status, 400);
    assert.match(json.message, /audio\.content: must be shorter than 30 s, not 30\.000 s/);
  }
});

test("invalid input is refused with every violation", async () => {
  const audio = { content: content(new Uint8Array(3200)) };
  const rows: [body: unknown, fields: string[]][] = [
    [{}, ["config", "audio.content"]],
    [{ config: {}, audio: {} }, ["config.languageCode", "audio.content"]],
    [{ config: { languageCode: "en-US" }, audio }, ["audio.content"]],
    [{ config: { ...config, sampleRateHertz: 7_999 }, audio }, ["config.sampleRateHertz"]],
    [{ config: { ...config, sampleRateHertz: 48_001 }, audio }, ["config.sampleRateHertz"]],
    [{ config: { ...config, maxAlternatives: 31 }, audio }, ["config.maxAlternatives"]],
    [{ config: { ...config, maxAlternatives: -1 }, audio }, ["config.maxAlternatives"]],
    [{ config: { ...config, encoding: "FLAC" }, audio }, ["audio.content"]],
    [{ config: { ...config, encoding: 4 }, audio }, ["config.encoding"]],
    [{ config: { ...config, encoding: "OPUS" }, audio }, ["config.encoding"]],
    [{ config: { ...config, languageCode: "xx-XX" }, audio }, ["config.languageCode"]],
    [{ config, audio: { content: "AAA" } }, []],
    [{ config, audio: { content: content(new Uint8Array(3)) } }, ["audio.content"]],
    [{ config, audio: { content: "" } }, ["audio.content"]],
    [{ config, audio: { content: content(wav.subarray(0, 36)) } }, ["audio.content"]],
    [{ config, audio: { content: content(withBitsPerSample(wav, 8)) } }, ["audio.content"]],
    [{ config, audio: { content: content(withBitsPerSample(wav, 24)) } }, ["audio.content"]],
    [{ config, audio: { content: "!!!!" } }, ["audio.content"]],
    [{ config, audio: { uri: "gs://a/b" } }, ["audio.uri"]],
    [
      { config: { ...config, sampleRateHertz: 8_000 }, audio: { content: content(wav) } },
      ["config.sampleRateHertz"],
    ],
    [{ config: { ...config, rate: 1 }, audio, extra: true }, ["config.rate", "extra"]],
    [
      { config: { ...config, sampleRateHertz: "many", languageCode: 5 }, audio },
      ["config.sampleRateHertz", "config.languageCode"],
    ],
  ];
  for (const [body, fields] of rows) {
    const { status, json } = await recognize(body);
    const row = JSON.stringify(body).slice(0, 120);
    if (fields.length === 0) {
      assert.equal(status, 200, row);
      continue;
    }
    assert.equal(status, 400, row);
    assert.equal(json.code, 3);
    assert.equal(json.error.status, "INVALID_ARGUMENT");
    const bad = json.details.find((detail: { "@type": string }) =>
      detail["@type"].endsWith("BadRequest"),
    );
    const named = bad.fieldViolations.map(({ field }: { field: string }) => field);
    assert.deepEqual(named.toSorted(), fields.toSorted(), row);
  }
  assert.equal((await recognize({ config, audio: { content: content(wav) } })).status, 200);
});

/** What the original's clients and Google's say about a recording, with enums by their names. */
const metadata = {
  interactionType: "DICTATION",
  numberOfSpeakers: "TWO_SPEAKERS",
  industryNaicsCodeOfAudio: 922_110,
  microphoneDistance: "FARFIELD",
  originalMediaType: "VIDEO",
  recordingDeviceType: "OTHER_INDOOR_DEVICE",
  recordingDeviceName: "hljóðnemi",
  originalMimeType: "audio/m4a",
  obfuscatedId: "1099511627776",
  audioTopic: "ræður",
};

test("metadata and model are accepted in every JSON form", async () => {
  const audio = { content: content(new Uint8Array(3200)) };
  const numbers = { interactionType: 8, numberOfSpeakers: 2, recordingDeviceType: 6 };
  const rows: [config: object][] = [
    [{ metadata, model: "latest_long" }],
    [{ metadata: { ...metadata, ...numbers, obfuscatedId: 2 ** 40 }, model: "" }],
    [{ metadata: { interaction_type: "VOICEMAIL", number_of_speakers: 17 }, model: null }],
    [{ metadata: {} }],
    [{ metadata: null }],
  ];
  for (const [more] of rows) {
    const { status, json } = await recognize({ config: { ...config, ...more }, audio });
    assert.equal(status, 200, JSON.stringify(more));
    assert.deepEqual(json, { results: [] });
  }
});

test("metadata and a model with wrong values are refused", async () => {
  const audio = { content: content(new Uint8Array(3200)) };
  const rows: [config: object, field: string, words: RegExp][] = [
    [{ metadata: "DICTATION" }, "metadata", /expected an object/],
    [{ metadata: [metadata] }, "metadata", /expected an object/],
    [{ metadata: { speakers: 2 } }, "metadata.speakers", /no such field/],
    ...["SINGING", "dictation", "8", 1.5, true, {}].map(
      (interactionType): [object, string, RegExp] => [
        { metadata: { interactionType } },
        "metadata.interactionType",
        /expected one of INTERACTION_TYPE_UNSPECIFIED, DISCUSSION/,
      ],
    ),
    [{ metadata: { numberOfSpeakers: "MANY" } }, "metadata.numberOfSpeakers", /TWO_SPEAKERS/],
    [{ metadata: { numberOfSpeakers: 1e10 } }, "metadata.numberOfSpeakers", /TWO_SPEAKERS/],
    [{ metadata: { microphoneDistance: "FAR" } }, "metadata.microphoneDistance", /FARFIELD/],
    [{ metadata: { originalMediaType: "FILM" } }, "metadata.originalMediaType", /VIDEO/],
    [{ metadata: { recordingDeviceType: "TAPE" } }, "metadata.recordingDeviceType", /PHONE_LINE/],
    [
      { metadata: { industryNaicsCodeOfAudio: -1 } },
      "metadata.industryNaicsCodeOfAudio",
      /whole number/,
    ],
    [{ metadata: { recordingDeviceName: 5 } }, "metadata.recordingDeviceName", /string/],
    [{ metadata: { originalMimeType: [] } }, "metadata.originalMimeType", /string/],
    [{ metadata: { obfuscatedId: "me" } }, "metadata.obfuscatedId", /whole number/],
    [{ metadata: { audioTopic: true } }, "metadata.audioTopic", /string/],
    [{ model: 5 }, "model", /string/],
    [{ model: ["default"] }, "model", /string/],
    [{ model: { name: "default" } }, "model", /string/],
  ];
  for (const [more, field, words] of rows) {
    const answer = await recognize({ config: { ...config, ...more }, audio });
    const row = JSON.stringify(more);
    assert.equal(answer.status, 400, row);
    assert.deepEqual(fieldsOf(answer), [`config.${field}`], row);
    assert.match(answer.json.message, words, row);
  }
});

/** Returns the file with a different sample size in its header. */
function withBitsPerSample(file: Buffer, bits: number): Buffer {
  const changed = Buffer.from(file);
  changed.writeUInt16LE(bits / 8, 32);
  changed.writeUInt16LE(bits, 34);
  return changed;
}

test("a language without a model is refused with the installed languages", async () => {
  const audio = { content: content(new Uint8Array(3200)) };
  const { status, json } = await recognize({ config: { ...config, languageCode: "fo-FO" }, audio });
  assert.equal(status, 400);
  assert.match(
    json.message,
    /config\.languageCode: is "fo-FO", which has no installed model; installed: en-US, is-IS/,
  );
});

test("malformed, oversized and misplaced calls are refused", async () => {
  const rows: [
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
    status: number,
  ][] = [
    ["POST", path, "{", {}, 400],
    ["POST", path, "[]", {}, 400],
    ["POST", path, "x".repeat(5 << 20), {}, 413],
    ["POST", path, "{}", { "content-encoding": "gzip" }, 415],
    ["POST", `${path}?config.encoding=LINEAR16`, "{}", {}, 400],
    ["GET", path, undefined, {}, 405],
    ["POST", "/v2beta1/speech:unknown", "{}", {}, 404],
    ["POST", "/v2/speech:recognize", "{}", {}, 404],
    ["POST", path, "[".repeat(100_000), {}, 400],
  ];
  for (const [method, target, body, headers, status] of rows) {
    const answer = await service.call(method, target, body, headers);
    assert.equal(answer.status, status, `${method} ${target} ${body?.slice(0, 20)}`);
    assert.equal(answer.json.error.code, status);
    assert.equal(typeof answer.json.message, "string");
    if (status === 405) assert.equal(answer.headers.get("allow"), "POST");
  }
});

test("an unauthorized call is refused before its body is read", async () => {
  const answer = await callRest(service.address, undefined, { method: "POST", path, body: "{" });
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get("www-authenticate"), "Bearer");
  assert.equal(answer.json.error.status, "UNAUTHENTICATED");
});

test("gRPC, gRPC-Web and Connect return the same response as REST", async () => {
  const baseUrl = service.address;
  const transports: Record<string, Transport> = {
    grpc: createGrpcTransport({ baseUrl }),
    grpcWeb: createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    connectHttp1: createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
    connectHttp2: createConnectTransport({ baseUrl, httpVersion: "2" }),
  };
  const request = {
    config: { encoding: 1 as const, sampleRateHertz: 16_000, languageCode: "en-US" },
    audio: { audioSource: { case: "content" as const, value: pcmOf(wav) } },
  };
  for (const [name, transport] of Object.entries(transports)) {
    const client = createClient(Speech, transport);
    const headers = { authorization: `Bearer ${service.key}` };
    const { results } = await client.recognize(request, { headers });
    assert.equal(results[0]?.alternatives[0]?.transcript, sentence, name);
    await assert.rejects(client.recognize(request), { code: 16 }, name);
    await assert.rejects(client.recognize({}, { headers }), { code: 3 }, name);
  }
});
