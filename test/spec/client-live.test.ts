// Live recognition with the TypeScript client and a whole service.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createHlustClient, type HlustClient } from "../../src/client/hlust-client.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type RecognitionConfigSchema,
  SpeechRecognitionAlternativeSchema,
  type StreamingRecognitionResult,
  type StreamingRecognizeRequestSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { durationFromMs, msOfDuration } from "../../src/std/duration.ts";
import { connectFailure } from "../fixtures/connect-failure.ts";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";
import { finalsOf as finalsOfStream, openStream, secondsOf, streamingConfig } from "./stream.ts";

const sentence = "the weather is cold and dark today";
const config: MessageInitShape<typeof RecognitionConfigSchema> = {
  encoding: Encoding.LINEAR16,
  sampleRateHertz: 16_000,
  languageCode: "en-US",
  enableWordTimeOffsets: true,
};
let service: TestService;
let client: HlustClient;
let wav: Buffer;
/** The results of a plain WebSocket client. */
let expected: ReturnType<typeof finalsOfStream>[number];
const zero = durationFromMs(0);
const alternative = SpeechRecognitionAlternativeSchema;

before(async () => {
  service = await openTestService();
  client = createHlustClient({ url: service.address, token: service.key });
  wav = speak(sentence);
  const stream = await openStream(service.address, { token: service.key });
  stream.send(streamingConfig({ enableWordTimeOffsets: true }));
  stream.sendAudio(pcmOf(wav));
  stream.send({ audioContent: "" });
  await stream.closed;
  const [final, ...others] = finalsOfStream(stream.messages);
  assert.ok(final && others.length === 0);
  expected = final;
});
after(() => service[Symbol.asyncDispose]());

async function* chunksOf(bytes: Uint8Array, size = 1600): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function finalsOf(results: readonly StreamingRecognitionResult[]): string[] {
  return results
    .filter(({ isFinal }) => isFinal)
    .map(({ alternatives }) => alternatives[0]?.transcript ?? "");
}

/** Retries a stream that is refused while the service is still ending the previous one. */
async function whenAdmitted<T>(call: () => Promise<T>, msMax = 20_000): Promise<T> {
  const giveUpAt = Date.now() + msMax;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isFull = error instanceof ConnectError && error.code === Code.ResourceExhausted;
      if (!isFull || Date.now() > giveUpAt) throw error;
    }
  }
}

test("live audio in chunks of any size gives the same results as a plain WebSocket", async () => {
  for (const size of [1600, 333, 4_000_000]) {
    const results: StreamingRecognitionResult[] = await whenAdmitted(() =>
      Array.fromAsync(
        client.recognizeLive({ config, interimResults: true }, chunksOf(pcmOf(wav), size)),
      ),
    );
    assert.deepEqual(finalsOf(results), [expected.transcript], `chunks of ${size}`);
    const words = results.at(-1)?.alternatives[0]?.words;
    assert.deepEqual(
      words?.map(({ word, startTime }) => [word, msOfDuration(startTime ?? zero)]),
      expected.words?.map(({ word, startTime }) => [word, secondsOf(startTime) * 1000]),
    );
    if (size === 1600) assert.ok(results.some(({ isFinal }) => !isFinal));
  }
});

test("recognize() returns the same result as plain HTTP", async () => {
  const content = pcmOf(wav);
  const { results } = await whenAdmitted(() =>
    client.speech.recognize({
      config,
      audio: { audioSource: { case: "content", value: content } },
    }),
  );
  const { json } = await service.call("POST", "/v2beta1/speech:recognize", {
    config: { ...config, encoding: "LINEAR16" },
    audio: { content: content.toString("base64") },
  });
  assert.equal(results[0]?.alternatives[0]?.transcript, sentence);
  assert.deepEqual(
    results.flatMap(({ alternatives }) => alternatives.map((one) => toJson(alternative, one))),
    json.results.flatMap(({ alternatives }: { alternatives: unknown[] }) => alternatives),
  );
});

test("the end of the requests finalizes a plain stream, but empty chunks do not", async () => {
  type Request = MessageInitShape<typeof StreamingRecognizeRequestSchema>;
  async function* requests(): AsyncGenerator<Request, void> {
    yield { streamingRequest: { case: "streamingConfig", value: { config } } };
    for await (const value of chunksOf(pcmOf(wav))) {
      yield { streamingRequest: { case: "audioContent", value } };
    }
  }
  const responses = await whenAdmitted(() =>
    Array.fromAsync(client.speech.streamingRecognize(requests())),
  );
  assert.deepEqual(finalsOf(responses.flatMap(({ results }) => results)), [expected.transcript]);

  async function* withGaps(): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunksOf(pcmOf(wav))) {
      yield new Uint8Array();
      yield chunk;
    }
  }
  const results = await whenAdmitted(() =>
    Array.fromAsync(client.recognizeLive({ config }, withGaps())),
  );
  assert.deepEqual(finalsOf(results), [expected.transcript]);
});

test("leaving the loop of a live call ends the call and closes its audio", async () => {
  let letGo = 0;
  async function* endless(): AsyncGenerator<Uint8Array, void> {
    yield* chunksOf(pcmOf(wav));
    yield new Uint8Array(64_000);
    await new Promise(() => {});
  }
  const microphone = (): AsyncIterable<Uint8Array> => {
    const audio = endless();
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => audio.next(),
        return: () => {
          letGo += 1;
          return Promise.resolve({ done: true, value: undefined });
        },
      }),
    };
  };
  const interim = { config, interimResults: true };
  await whenAdmitted(async () => {
    letGo = 0;
    for await (const { alternatives } of client.recognizeLive(interim, microphone())) {
      assert.notEqual(alternatives[0]?.transcript, "");
      break;
    }
  });
  await until(async () => await Promise.resolve(letGo > 0));

  const aborting = new AbortController();
  const { signal } = aborting;
  const live = await whenAdmitted(async () => {
    const live = client.recognizeLive(interim, microphone(), { signal });
    await live.next();
    return live;
  });
  letGo = 0;
  aborting.abort();
  assert.equal((await connectFailure(Array.fromAsync(live))).code, Code.Canceled);
  await until(async () => await Promise.resolve(letGo === 1));
});

test("a microphone that fails ends the call with its error", async () => {
  const unplugged = new Error("unplugged");
  async function* failing(): AsyncGenerator<Uint8Array, void> {
    yield pcmOf(wav).subarray(0, 1600);
    throw unplugged;
  }
  const error = await connectFailure(
    whenAdmitted(() => Array.fromAsync(client.recognizeLive({ config }, failing()))),
  );
  assert.equal(error.cause, unplugged);
});

test("a call with singleUtterance ends while audio is still being sent", async () => {
  async function* twice(): AsyncGenerator<Uint8Array, void> {
    for (;;) {
      yield* chunksOf(pcmOf(wav), 16_000);
      yield new Uint8Array(64_000);
    }
  }
  const single = { config, singleUtterance: true };
  const results = await whenAdmitted(() => Array.fromAsync(client.recognizeLive(single, twice())));
  assert.deepEqual(finalsOf(results), [expected.transcript]);
});

test("an unreachable service is reported as Unavailable, and so are streams of a service that stops", async () => {
  const stopping = await openTestService({ HLUST_ENGINE: "scripted" });
  const other = createHlustClient({ url: stopping.address, token: stopping.key });
  const opened = Promise.withResolvers<void>();
  async function* waiting(): AsyncGenerator<Uint8Array, void> {
    yield pcmOf(wav).subarray(0, 1600);
    opened.resolve();
    await new Promise(() => {});
  }
  const live = connectFailure(Array.fromAsync(other.recognizeLive({ config }, waiting())));
  await opened.promise;
  await stopping[Symbol.asyncDispose]();
  assert.equal((await live).code, Code.Unavailable);
  assert.equal(
    (await connectFailure(other.transcripts.listTranscripts({}))).code,
    Code.Unavailable,
  );
  const away = other.recognizeLive({ config }, chunksOf(pcmOf(wav)));
  assert.equal((await connectFailure(Array.fromAsync(away))).code, Code.Unavailable);
});
