// OpenAI's transcription of files, with the clients that people use.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe as transcribe } from "ai";
import Groq from "groq-sdk";
import OpenAI, { APIError, toFile } from "openai";
import { speak } from "../fixtures/flite.ts";
import { pcmOf } from "../spec/service.ts";
import {
  longSpeech,
  openDialectService,
  shortSpeech,
  shortText,
  type DialectService,
} from "./dialect-service.ts";

const text = "Thank you very much for your letter of the 3rd of May.";
let dialects: DialectService;
let client: OpenAI;
/** English, which the service expects only if a call names it. */
let english: Buffer;
let short: Buffer;

before(async () => {
  dialects = await openDialectService();
  const { address, key } = dialects.service;
  client = new OpenAI({ apiKey: key, baseURL: `${address}/v1`, maxRetries: 0 });
  english = speak("thank you very much for your letter of the third of may");
  short = shortSpeech();
});
after(() => dialects[Symbol.asyncDispose]());

describe("the client of OpenAI", () => {
  test("gets the text in every format", async () => {
    const ask = async (response_format: "json" | "text" | "srt" | "vtt"): Promise<unknown> =>
      await client.audio.transcriptions.create({
        file: await toFile(english, "speech.wav"),
        model: "whisper-1",
        language: "en",
        response_format,
      });
    assert.deepEqual(await ask("json"), { text, usage: { type: "duration", seconds: 3 } });
    assert.equal(await ask("text"), `${text}\n`);
    assert.match(
      textOf(await ask("srt")),
      /^1\n00:00:00,\d{3} --> 00:00:02,\d{3}\nThank you very much\nfor your letter of the 3rd of May\.\n$/,
    );
    assert.match(
      textOf(await ask("vtt")),
      /^WEBVTT\n\n1\n00:00:00\.\d{3} --> 00:00:02\.\d{3}\nThank/,
    );
  });

  test("gets segments and words as verbose_json", async () => {
    const create = async (granularities: ("segment" | "word")[]) =>
      await client.audio.transcriptions.create({
        file: await toFile(english, "speech.wav"),
        model: "whisper-1",
        language: "english",
        response_format: "verbose_json",
        timestamp_granularities: granularities,
      });
    const whole = await create(["segment", "word"]);
    assert.equal(whole.text, text);
    assert.equal(whole.language, "english");
    assert.ok(Math.abs(whole.duration - 2.866) < 0.1, String(whole.duration));
    const [segment, ...others] = whole.segments ?? [];
    assert.deepEqual(others, []);
    // Typed clients require each of them.
    assert.deepEqual(Object.keys(segment ?? {}), [
      "id",
      "seek",
      "start",
      "end",
      "text",
      "tokens",
      "temperature",
      "avg_logprob",
      "compression_ratio",
      "no_speech_prob",
    ]);
    assert.equal(segment?.text, ` ${text}`);
    assert.ok((segment?.avg_logprob ?? 1) < 0 && (segment?.compression_ratio ?? 0) > 0.5);

    assert.deepEqual((await create(["segment"])).words, undefined);
    const { words, segments } = await create(["word"]);
    assert.equal(segments, undefined);
    const { json } = await dialects.service.call("POST", "/v2beta1/speech:recognize", {
      config: {
        encoding: "LINEAR16",
        sampleRateHertz: 16_000,
        languageCode: "en-US",
        enableWordTimeOffsets: true,
        enableFormatting: true,
        enableAutomaticPunctuation: true,
      },
      audio: { content: pcmOf(english).toString("base64") },
    });
    const own = json.results[0].alternatives[0].words;
    assert.deepEqual(
      words?.map(({ word }) => word),
      own.map(({ word }: { word: string }) => word),
    );
    for (const [at, word] of (words ?? []).entries()) {
      assert.ok(Math.abs(word.start - Number.parseFloat(own[at].startTime ?? "0s")) <= 0.25);
      assert.ok(word.end > word.start && word.end <= whole.duration);
    }
  });

  test("gets the text of a long recording as it becomes final, and nothing twice", async () => {
    const { text: whole } = await client.audio.transcriptions.create({
      file: await toFile(longSpeech(), "speech.wav"),
      model: "gpt-4o-transcribe",
    });
    const stream = await client.audio.transcriptions.create({
      file: await toFile(longSpeech(), "speech.wav"),
      model: "gpt-4o-transcribe",
      stream: true,
    });
    const deltas: string[] = [];
    let done = "";
    for await (const event of stream) {
      assert.equal(done, "", "nothing follows the end");
      if (event.type === "transcript.text.delta") deltas.push(event.delta);
      if (event.type === "transcript.text.done") done = event.text;
    }
    assert.ok(deltas.length >= 3, `${deltas.length} parts`);
    assert.equal(deltas.join(""), done);
    // A part cannot wait for the words after it, which decide where a sentence ends.
    const words = (text: string) => text.toLowerCase().replaceAll(/[.,?]/g, "");
    assert.equal(words(done), words(whole));
    assert.equal(done.match(/kaffihúsinu/g)?.length, 20);
  });

  test("finds the models, and throws its own errors", async () => {
    const { data } = await client.models.list();
    assert.deepEqual(
      data.map(({ id, object }) => ({ id, object })),
      [
        { id: "is-IS-starter", object: "model" },
        { id: "pocketsphinx-en-US", object: "model" },
      ],
    );
    assert.equal((await client.models.retrieve("is-IS-starter")).id, "is-IS-starter");
    await assert.rejects(client.models.retrieve("whisper-9"), (error) => {
      assert.ok(error instanceof OpenAI.NotFoundError);
      assert.equal(error.code, "model_not_found");
      return true;
    });
    const stranger = new OpenAI({ apiKey: "unknown", baseURL: `${dialects.service.address}/v1` });
    await assert.rejects(stranger.models.list(), OpenAI.AuthenticationError);
    const wrong = client.audio.transcriptions.create({
      file: await toFile(short, "speech.wav"),
      model: "whisper-1",
      language: "tlh",
    });
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.param, "language");
      assert.match(error.message, /"tlh", which has no installed model; installed: en-US, is-IS/);
      assert.match(error.requestID ?? "", /^[\w-]{8,}$/);
      return true;
    });
  });

  test("cannot translate, which has its own error", async () => {
    const translated = client.audio.translations.create({
      file: await toFile(short, "speech.wav"),
      model: "whisper-1",
    });
    await assert.rejects(translated, (error) => {
      assert.ok(error instanceof APIError);
      assert.equal(error.status, 400);
      assert.match(error.message, /cannot be translation/);
      return true;
    });
  });
});

test("the client of Groq finds the service under /openai", async () => {
  const groq = new Groq({ apiKey: dialects.service.key, baseURL: dialects.service.address });
  const answer = await groq.audio.transcriptions.create({
    file: await toFile(short, "speech.wav"),
    model: "whisper-large-v3-turbo",
  });
  assert.match(answer.text, shortText);
});

test("the AI SDK gets text, segments, language and duration", async () => {
  const provider = createOpenAI({
    apiKey: dialects.service.key,
    baseURL: `${dialects.service.address}/v1`,
  });
  const answer = await transcribe({ model: provider.transcription("whisper-1"), audio: short });
  assert.match(answer.text, shortText);
  assert.equal(answer.language, "is");
  assert.equal(answer.segments.length, 1);
  assert.ok((answer.durationInSeconds ?? 0) > 1);
});

/** The client's types promise an object for each format; it returns text for those of text. */
function textOf(answer: unknown): string {
  assert.ok(typeof answer === "string");
  return answer;
}
