// Clients that are generated from the original's contracts drive the methods of its speech services
// over gRPC.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak, joined, noise, speak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { openOriginalClient, type Message, type OriginalClient } from "./original-client.ts";

const linear16 = { encoding: "LINEAR16", sample_rate_hertz: 16_000 };
const english = { ...linear16, language_code: "en-US" };
/** The Icelandic model needs a fiftieth of the CPU time of the English one. */
const icelandic = { ...linear16, language_code: "is-IS" };
/** What every client of Google's service may say about a recording. */
const facts = {
  interaction_type: "DICTATION",
  industry_naics_code_of_audio: 922_110,
  microphone_distance: "FARFIELD",
  original_media_type: "VIDEO",
  recording_device_type: "OTHER_INDOOR_DEVICE",
  recording_device_name: "hljóðnemi á borði",
  original_mime_type: "audio/m4a",
  audio_topic: "ræður á þingi",
};
let service: TestService;
/** The original's service, and its earlier version. */
let client: OriginalClient;
let earlier: OriginalClient;
let speech: Buffer;
/** Two utterances in Icelandic, with pauses. */
let talk: Buffer;

before(async () => {
  service = await openTestService();
  client = openOriginalClient(
    "lr/speech/v2beta1/speech.proto",
    "lr.speech.v2beta1.Speech",
    service,
  );
  earlier = openOriginalClient(
    "tiro/speech/v1alpha/speech.proto",
    "tiro.speech.v1alpha.Speech",
    service,
  );
  speech = pcmOf(speak("thank you very much for your letter"));
  const pause = noise(1200, 4);
  const words = [espeak("við hittumst á kaffihúsinu"), espeak("hún býr í litlu húsi")];
  talk = wavOf(joined(pause, ...words.flatMap((each) => [each, pause])));
});
after(async () => {
  client[Symbol.dispose]();
  earlier[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** Returns the messages of a stream of audio that the client half-closes. */
async function streamed(
  caller: OriginalClient,
  streaming: Message,
  audio: Buffer,
): Promise<Message[]> {
  const pieces = Array.from({ length: Math.ceil(audio.length / 3_200) }, (_, at) => ({
    audio_content: audio.subarray(at * 3_200, (at + 1) * 3_200),
  }));
  const requests = [{ streaming_config: streaming }, ...pieces];
  return await Array.fromAsync(caller.stream("StreamingRecognize", requests));
}

function finalsOf(messages: Message[]): Message[] {
  return messages.flatMap(({ results }) => results).filter(({ is_final: isFinal }) => isFinal);
}

const textOf = (results: Message[]): string =>
  results.map(({ alternatives: [best] }) => best.transcript).join("");

test("a short recording is recognized with words and alternatives", async () => {
  const { results } = await client.call("Recognize", {
    config: { ...english, max_alternatives: 3, enable_word_time_offsets: true },
    audio: { content: speech },
  });
  const [{ alternatives }] = results;
  assert.ok(alternatives.length >= 1 && alternatives.length <= 3);
  assert.match(alternatives[0].transcript, /letter/);
  assert.ok(alternatives[0].words.length > 4);
});

test("a stream returns interim and final results until the client half-closes", async () => {
  const streaming = { config: english, interim_results: true };
  const messages = await streamed(client, streaming, speech);
  assert.ok(messages.some(({ results }) => results.some((each: Message) => !each.is_final)));
  assert.match(textOf(finalsOf(messages)), /letter/);
});

describe("every encoding of the contract is recognized, at once and as a stream", () => {
  const rows = [
    [{ encoding: "FLAC", sample_rate_hertz: 16_000 }, "flac"],
    [{ encoding: "OGG_OPUS", sample_rate_hertz: 16_000 }, "opus.ogg"],
    [{ encoding: "MP3", sample_rate_hertz: 16_000 }, "mp3"],
    [{ encoding: "GUESS" }, "webm"],
    // Google's number, which the original's contract does not name.
    [{ encoding: 3, sample_rate_hertz: 8_000 }, "mulaw.wav"],
  ] as const;
  for (const [form, format] of rows) {
    test(`${form.encoding} (${format})`, async () => {
      const content = encode(talk, format);
      const config = { ...form, language_code: "is-IS" };
      const { results } = await client.call("Recognize", { config, audio: { content } });
      assert.match(textOf(results), /kaffi/);
      assert.match(textOf(finalsOf(await streamed(client, { config }, content))), /kaffi/);
    });
  }
});

test("0 alternatives are one, 30 are as many as there are, and 31 are refused", async () => {
  const alternatives = async (count: number): Promise<Message[]> => {
    const config = { ...icelandic, max_alternatives: count };
    const { results } = await client.call("Recognize", {
      config,
      audio: { content: pcmOf(talk) },
    });
    return results[0].alternatives;
  };
  assert.equal((await alternatives(0)).length, 1);
  const texts = (await alternatives(30)).map(({ transcript }) => transcript);
  assert.ok(texts.length > 1 && texts.length <= 30, `${texts.length}`);
  assert.equal(new Set(texts).size, texts.length);
  await assert.rejects(alternatives(31), { code: 3 });
});

test("a client of each contract may send a model and every fact about the recording", async () => {
  const audio = { content: pcmOf(talk) };
  const plain = textOf((await client.call("Recognize", { config: icelandic, audio })).results);
  assert.match(plain, /kaffi/);
  const metadata = { ...facts, number_of_speakers: "MULTIPLE_SPEAKERS", obfuscated_id: 2 ** 40 };
  const rows: readonly [OriginalClient, config: Message][] = [
    [client, { ...icelandic, model: "latest_long", metadata }],
    [earlier, { ...icelandic, metadata: facts }],
  ];
  for (const [caller, config] of rows) {
    const { results } = await caller.call("Recognize", { config, audio });
    assert.equal(textOf(results), plain);
    const messages = await streamed(caller, { config }, pcmOf(talk));
    assert.equal(textOf(finalsOf(messages)).split(" ")[0], plain.split(" ")[0]);
  }
});

const startsAndEnds = ["START_OF_SPEECH", "END_OF_SPEECH"];

test("a stream has the events of speech and of the end of its audio, where it asks for them", async () => {
  const config = icelandic;
  const eventsOf = (messages: Message[]) =>
    messages
      .filter(({ results }) => results.length === 0)
      .map(({ speech_event_type: event }) => event);
  const without = await streamed(client, { config }, pcmOf(talk));
  assert.deepEqual(eventsOf(without), []);
  const asking = { config, enable_voice_activity_events: true };
  const messages = await streamed(client, asking, pcmOf(talk));
  assert.deepEqual(eventsOf(messages), [...startsAndEnds, ...startsAndEnds, "END_OF_AUDIO"]);
  assert.equal(textOf(finalsOf(messages)), textOf(finalsOf(without)));
  const numbers = eventsOf(await streamed(earlier, asking, pcmOf(talk)));
  // The earlier contract has no names for these events, and no other meaning of their numbers.
  assert.deepEqual(numbers, [2, 3, 2, 3, 4]);
});

test("the service has the earlier name of the original, over gRPC and REST", async () => {
  const audio = { content: speech };
  const { results } = await earlier.call("Recognize", { config: english, audio });
  const { status, json } = await service.call("POST", "/v1alpha/speech:recognize", {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
    audio: { content: speech.toString("base64") },
  });
  assert.equal(status, 200);
  assert.equal(json.results[0].alternatives[0].transcript, results[0].alternatives[0].transcript);
});

test("a stream under the earlier name has interim and final results, with their end and language", async () => {
  const streaming = { config: icelandic, interim_results: true };
  const messages = await streamed(earlier, streaming, pcmOf(talk));
  const results = messages.flatMap((message) => message.results);
  assert.ok(results.some((each: Message) => !each.is_final));
  const finals = finalsOf(messages);
  assert.match(textOf(finals), /kaffi.*húsi/);
  for (const { language_code: language, result_end_time: end } of finals) {
    assert.equal(language, "is-IS");
    assert.ok(end.seconds > 0);
  }
  const single = { config: icelandic, single_utterance: true };
  const last = (await streamed(earlier, single, pcmOf(talk))).at(-1);
  assert.equal(last?.speech_event_type, "END_OF_SINGLE_UTTERANCE");
});

test("LongRunningRecognize and Stream are UNIMPLEMENTED under every name of the original", async () => {
  const unserved = (service: string, method: string) => ({
    code: 12,
    details: `/${service}/${method} is not served here`,
  });
  const name = "lr.speech.v2beta1.Speech";
  const request = { config: english, audio: { content: speech } };
  await assert.rejects(
    client.call("LongRunningRecognize", request),
    unserved(name, "LongRunningRecognize"),
  );
  await assert.rejects(Array.fromAsync(client.stream("Stream", {})), unserved(name, "Stream"));
  // The earlier contract has neither of them.
  for (const method of ["LongRunningRecognize", "Stream"]) {
    await assert.rejects(
      callBare(`/tiro.speech.v1alpha.Speech/${method}`),
      unserved("tiro.speech.v1alpha.Speech", method),
    );
  }
});

/** Calls a method with an empty message. */
async function callBare(path: string): Promise<Buffer> {
  const caller = new Client(new URL(service.address).host, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${service.key}`);
  const same = (bytes: Buffer) => bytes;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  caller.makeUnaryRequest(path, same, same, Buffer.alloc(0), metadata, (error, answer) => {
    if (error || !answer) reject(error ?? new Error("no answer"));
    else resolve(answer);
  });
  try {
    return await promise;
  } finally {
    caller.close();
  }
}
