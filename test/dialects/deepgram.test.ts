// Deepgram's transcription of files and of streams, with the clients that people use.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { createDeepgram } from "@ai-sdk/deepgram";
import { DeepgramClient, DeepgramError, type Deepgram } from "@deepgram/sdk";
import { transcribe } from "ai";
import { espeak, flite, joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { within } from "../fixtures/until.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "../spec/stream.ts";
import { openDialectService, type DialectService } from "./dialect-service.ts";
import { bytesOf } from "./dialect-stream.ts";

const spoken = {
  is: { samples: espeak("við hittumst á kaffihúsinu"), tag: "is-IS" },
  en: { samples: flite("thank you very much for your letter"), tag: "en-US" },
};
const written = {
  is: "Við hittumst á kaffihúsinu.",
  en: "Thank you very much for your letter.",
};
const said = {
  is: "við hittumst á kaffihúsinu",
  en: "thank you very much for your letter",
};
const languages = ["is", "en"] as const;

let dialects: DialectService;
let client: DeepgramClient;

before(async () => {
  dialects = await openDialectService();
  client = clientAt(dialects.service.address);
});
after(() => dialects[Symbol.asyncDispose]());

/** Returns the client as an operator configures it: with the address and the key. */
function clientAt(base: string): DeepgramClient {
  const socket = base.replace("http", "ws");
  const environment = { base, production: socket, agent: socket, agentRest: base };
  return new DeepgramClient({ apiKey: dialects.service.key, environment, maxRetries: 0 });
}

type ListenArgs = Parameters<DeepgramClient["listen"]["v1"]["connect"]>[0];
type ListenMessage =
  | Deepgram.listen.ListenV1Results
  | Deepgram.listen.ListenV1Metadata
  | Deepgram.listen.ListenV1UtteranceEnd
  | Deepgram.listen.ListenV1SpeechStarted;

/** Opens a stream of the client, and returns it with what it receives. */
async function listen(args: Partial<ListenArgs> & object, own = client) {
  const socket = await own.listen.v1.connect({
    model: "nova-3",
    encoding: "linear16",
    sample_rate: 16_000,
    reconnectAttempts: 0,
    ...args,
  });
  const messages: ListenMessage[] = [];
  socket.on("message", (message) => void messages.push(message));
  const closed = new Promise<number>((resolve) => {
    socket.on("close", ({ code }) => resolve(code));
  });
  socket.connect();
  await socket.waitForOpen();
  const sendAudio = (samples: Int16Array): void => {
    const bytes = bytesOf(samples);
    for (let at = 0; at < bytes.length; at += 3200) socket.sendMedia(bytes.subarray(at, at + 3200));
  };
  return { socket, messages, sendAudio, closed: within("the close", closed) };
}

function resultsOf(messages: readonly ListenMessage[]): Deepgram.listen.ListenV1Results[] {
  return messages.filter((message) => message.type === "Results");
}

function textOf(results: readonly Deepgram.listen.ListenV1Results[]): string {
  const texts = results.filter(({ is_final }) => is_final).map(bestOf);
  return texts
    .map(({ transcript }) => transcript)
    .join(" ")
    .trim();
}

function bestOf({ channel }: Deepgram.listen.ListenV1Results) {
  const [best] = channel.alternatives;
  assert.ok(best);
  return best;
}

/** Returns the words of our own stream and the seconds at which they begin. */
async function ownWords(samples: Int16Array, languageCode: string): Promise<[string, number][]> {
  const { address, key } = dialects.service;
  const stream = await openStream(address, { token: key });
  stream.send(streamingConfig({ languageCode, enableWordTimeOffsets: true }));
  stream.sendAudio(bytesOf(samples));
  stream.sendRaw(JSON.stringify({ audioContent: "" }));
  await stream.closed;
  return finalsOf(stream.messages)
    .flatMap(({ words }) => words ?? [])
    .map(({ word, startTime }) => [word, secondsOf(startTime)]);
}

describe("Deepgram's client", () => {
  for (const language of languages) {
    test(`transcribes a file (${language})`, async () => {
      const file = wavOf(spoken[language].samples);
      const options = { model: "nova-3", language, smart_format: true } as const;
      const answer = await client.listen.v1.media.transcribeFile(file, options);
      assert.ok("results" in answer);
      const [best] = answer.results.channels[0]?.alternatives ?? [];
      assert.equal(best?.transcript, written[language]);
      assert.ok((best.confidence ?? 0) > 0.3 && (best.confidence ?? 0) <= 1);
      const words = best.words ?? [];
      assert.equal(
        words.map((word) => Reflect.get(word, "punctuated_word")).join(" "),
        written[language],
      );
      assert.ok(words.every(({ word }) => /^[\p{Ll}\d]+$/u.test(word ?? "")));
      const { metadata } = answer;
      assert.equal(metadata.sha256, createHash("sha256").update(file).digest("hex"));
      assert.ok(Math.abs(metadata.duration - spoken[language].samples.length / 16_000) < 0.01);
      assert.equal(metadata.channels, 1);
      assert.equal(metadata.models.length, 1);
      const info = metadata.model_info[metadata.models[0] ?? ""];
      assert.ok(info && typeof info === "object" && "name" in info);
    });

    test(`transcribes a stream, with the word times of our own (${language})`, async () => {
      const { samples, tag } = spoken[language];
      const stream = await listen({ language, interim_results: "true" });
      stream.sendAudio(joined(noise(700, 3), samples));
      stream.socket.sendCloseStream({ type: "CloseStream" });
      assert.equal(await stream.closed, 1000);
      const results = resultsOf(stream.messages);
      assert.ok(results.some(({ is_final }) => is_final === false));
      assert.equal(textOf(results), said[language]);
      const finals = results.filter(({ is_final }) => is_final);
      const words = finals.flatMap((each) => bestOf(each).words);
      const own = await ownWords(joined(noise(700, 3), samples), tag);
      assert.deepEqual(
        words.map(({ word }) => word),
        own.map(([word]) => word),
      );
      for (const [at, { start, end }] of words.entries()) {
        assert.ok(Math.abs(start - (own[at]?.[1] ?? 0)) <= 0.25, `word ${at} at ${start}`);
        assert.ok(end > start);
      }
      for (const { metadata } of results) assert.equal(typeof metadata.request_id, "string");
      const last = stream.messages.at(-1);
      assert.equal(last?.type, "Metadata");
      assert.equal(
        last.sha256,
        createHash("sha256")
          .update(bytesOf(joined(noise(700, 3), samples)))
          .digest("hex"),
      );
    });
  }

  test("gets utterances, paragraphs and keyterms of a file", async () => {
    const { samples } = spoken.is;
    const answer = await client.listen.v1.media.transcribeFile(
      wavOf(joined(samples, noise(1_500, 3), samples)),
      {
        model: "nova-3",
        language: "is",
        smart_format: true,
        utterances: true,
        paragraphs: true,
        keyterm: ["kaffihúsinu", "Reykjavík"],
      },
    );
    assert.ok("results" in answer);
    const { utterances = [], channels } = answer.results;
    assert.deepEqual(
      utterances.map(({ transcript }) => transcript),
      [written.is, written.is],
    );
    assert.ok((utterances[1]?.start ?? 0) > (utterances[0]?.end ?? 0) + 0.8);
    assert.equal(new Set(utterances.map(({ id }) => id)).size, 2);
    const paragraphs = channels[0]?.alternatives?.[0]?.paragraphs?.paragraphs ?? [];
    assert.deepEqual(
      paragraphs.flatMap(({ sentences = [] }) => sentences.map(({ text }) => text)),
      [written.is, written.is],
    );
  });

  test("gets its messages in order: speech, results, the ends of utterances, and Metadata", async () => {
    const stream = await listen({
      language: "is",
      vad_events: "true",
      interim_results: "true",
      utterance_end_ms: "1000",
      punctuate: "true",
    });
    stream.sendAudio(joined(spoken.is.samples, silence(2_500), spoken.is.samples, silence(1_500)));
    stream.socket.sendCloseStream({ type: "CloseStream" });
    assert.equal(await stream.closed, 1000);
    const kinds = stream.messages.map((message) => {
      if (message.type !== "Results") return message.type;
      if (message.is_final === false) return "interim";
      return message.speech_final === true ? "speech final" : "final";
    });
    const once = kinds.filter((kind, at) => kind !== "interim" || kinds[at - 1] !== "interim");
    const utterance = ["SpeechStarted", "interim", "speech final", "UtteranceEnd"];
    assert.deepEqual(once, [...utterance, ...utterance, "Metadata"]);
    const ends = stream.messages.filter((message) => message.type === "UtteranceEnd");
    const finals = resultsOf(stream.messages).filter(({ is_final }) => is_final);
    assert.deepEqual(
      ends.map(({ last_word_end: end }) => end),
      finals.map((each) => bestOf(each).words.at(-1)?.end),
    );
    const [first, second] = finals;
    assert.equal(second?.start, (first?.start ?? 0) + (first?.duration ?? 0));
  });

  test("gets the rest of an utterance with from_finalize, and an answer if there is none", async () => {
    const stream = await listen({ language: "is" });
    stream.sendAudio(spoken.is.samples);
    stream.socket.sendFinalize({ type: "Finalize" });
    stream.socket.sendKeepAlive({ type: "KeepAlive" });
    stream.sendAudio(silence(500));
    stream.socket.sendFinalize({ type: "Finalize" });
    stream.socket.sendFinalize({ type: "Finalize" });
    stream.socket.sendCloseStream({ type: "CloseStream" });
    assert.equal(await stream.closed, 1000);
    assert.deepEqual(
      resultsOf(stream.messages).map((each) => [each.from_finalize, bestOf(each).transcript]),
      [
        [true, said.is],
        [true, ""],
        [true, ""],
      ],
    );
  });

  test("finds the service under a path with the language", async () => {
    const own = clientAt(`${dialects.service.address}/deepgram/is`);
    const file = wavOf(spoken.is.samples);
    const options = { model: "nova-3", smart_format: true } as const;
    const answer = await own.listen.v1.media.transcribeFile(file, options);
    assert.ok("results" in answer);
    assert.equal(answer.results.channels[0]?.alternatives?.[0]?.transcript, written.is);
    const stream = await listen({}, own);
    stream.sendAudio(spoken.is.samples);
    stream.socket.sendCloseStream({ type: "CloseStream" });
    assert.equal(await stream.closed, 1000);
    assert.equal(textOf(resultsOf(stream.messages)), said.is);
    const other = clientAt(`${dialects.service.address}/deepgram/fr`);
    const refused = other.listen.v1.media.transcribeFile(file, options);
    await assert.rejects(refused, /language: is \\"fr\\", which has no installed model/);
  });

  test("gets the message of an error", async () => {
    const options = { model: "nova-3", language: "fr", redact: "pci" } as const;
    await assert.rejects(
      client.listen.v1.media.transcribeFile(wavOf(spoken.en.samples), options),
      (error: unknown) => {
        assert.ok(error instanceof DeepgramError);
        assert.equal(error.statusCode, 400);
        const body = JSON.stringify(error.body);
        assert.match(body, /"err_code":"Bad Request"/);
        assert.match(body, /redact: cannot be used.*language: is \\"fr\\", which has no/);
        return true;
      },
    );
  });
});

test("the AI SDK with its provider for Deepgram gets text, words and the duration", async () => {
  const { address, key } = dialects.service;
  // The provider has no setting for the address: an own fetch changes it.
  const deepgram = createDeepgram({
    apiKey: key,
    fetch: async (url, init) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url);
      return await fetch(`${address}${pathname}${search}`, init);
    },
  });
  const answer = await transcribe({
    model: deepgram.transcription("nova-3"),
    audio: wavOf(spoken.is.samples),
    providerOptions: { deepgram: { language: "is", punctuate: true, detectLanguage: false } },
  });
  assert.equal(answer.text, written.is);
  assert.deepEqual(
    answer.segments.map(({ text }) => text),
    said.is.split(" "),
  );
  assert.ok(Math.abs((answer.durationInSeconds ?? 0) - spoken.is.samples.length / 16_000) < 0.01);
});
