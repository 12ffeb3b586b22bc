// A client that is generated from the original's contract drives the methods of its speech service
// over gRPC.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { speak } from "../fixtures/flite.ts";
import { openTestService, pcmOf, type TestService } from "../spec/service.ts";
import { openOriginalClient, type Message, type OriginalClient } from "./original-client.ts";

const config = { encoding: "LINEAR16", sample_rate_hertz: 16_000, language_code: "en-US" };
let service: TestService;
let client: OriginalClient;
let speech: Buffer;

before(async () => {
  service = await openTestService();
  client = openOriginalClient(
    "lr/speech/v2beta1/speech.proto",
    "lr.speech.v2beta1.Speech",
    service,
  );
  speech = pcmOf(speak("thank you very much for your letter"));
});
after(async () => {
  client[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

test("a short recording is recognized with words and alternatives", async () => {
  const { results } = await client.call("Recognize", {
    config: { ...config, max_alternatives: 3, enable_word_time_offsets: true },
    audio: { content: speech },
  });
  const [{ alternatives }] = results;
  assert.ok(alternatives.length >= 1 && alternatives.length <= 3);
  assert.match(alternatives[0].transcript, /letter/);
  assert.ok(alternatives[0].words.length > 4);
});

test("a stream returns interim and final results until the client half-closes", async () => {
  const pieces = Array.from({ length: Math.ceil(speech.length / 3_200) }, (_, at) => ({
    audio_content: speech.subarray(at * 3_200, (at + 1) * 3_200),
  }));
  const streaming = { streaming_config: { config, interim_results: true } };
  const messages: Message[] = [];
  for await (const message of client.stream("StreamingRecognize", [streaming, ...pieces])) {
    messages.push(message);
  }
  const results = messages.flatMap((message) => message.results);
  assert.ok(results.some((result) => !result.is_final));
  const finals = results.filter((result) => result.is_final);
  assert.match(finals.map(({ alternatives }) => alternatives[0].transcript).join(""), /letter/);
});

test("the service has the earlier name of the original, over gRPC and REST", async () => {
  using earlier = openOriginalClient(
    "tiro/speech/v1alpha/speech.proto",
    "tiro.speech.v1alpha.Speech",
    service,
  );
  const audio = { content: speech };
  const { results } = await earlier.call("Recognize", { config, audio });
  const { status, json } = await service.call("POST", "/v1alpha/speech:recognize", {
    config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" },
    audio: { content: speech.toString("base64") },
  });
  assert.equal(status, 200);
  assert.equal(json.results[0].alternatives[0].transcript, results[0].alternatives[0].transcript);
});
