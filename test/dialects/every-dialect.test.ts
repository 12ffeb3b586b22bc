// Speech comes back right through every dialect, in both languages, with the word times of
// speech:recognize, and with the account's vocabulary.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { espeak, flite, joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { onceWithin, until, within } from "../fixtures/until.ts";
import { secondsOf } from "../spec/stream.ts";
import {
  bearer,
  field,
  fileOf,
  openDialectService,
  type DialectService,
} from "./dialect-service.ts";
import { bytesOf, openDialectStream, type DialectStream } from "./dialect-stream.ts";
import type { FormPart } from "./form-body.ts";
import { openWyomingClient } from "./wyoming-client.ts";

const pause = noise(1_200, 3);
const speech = {
  is: {
    tag: "is-IS",
    samples: joined(
      pause,
      espeak("við hittumst við þingvallavatn"),
      pause,
      espeak("hún býr í húsi"),
    ),
    // Without the account's vocabulary, the model writes "þingvalla vatn".
    text: "við hittumst við þingvallavatn hún býr í húsi",
  },
  en: {
    tag: "en-US",
    samples: joined(pause, flite("thank you very much"), pause, flite("for your letter")),
    text: "thank you very much for your letter",
  },
};
type Language = keyof typeof speech;

interface TimedWord {
  readonly word: string;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
}

/** What a dialect answers: words, or spans of several words, with times; or text alone. */
type Answer = readonly TimedWord[] | string;

let dialects: DialectService;
const reference = new Map<Language, readonly TimedWord[]>();

before(async () => {
  dialects = await openDialectService({ HLUST_WYOMING_LISTEN: "127.0.0.1:0" });
  const body = { phrase: "þingvallavatn", languageCode: "is" };
  const { status } = await dialects.service.call("POST", "/v2beta1/vocabularyPhrases", body);
  assert.equal(status, 200);
});
after(() => dialects[Symbol.asyncDispose]());

/** Returns text as it is spoken: in lower case and without punctuation. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[.,?!]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function googleRequest(language: Language) {
  const { tag, samples } = speech[language];
  return {
    config: {
      encoding: "LINEAR16",
      sampleRateHertz: 16_000,
      languageCode: tag,
      enableWordTimeOffsets: true,
    },
    audio: { content: bytesOf(samples).toString("base64") },
  };
}

interface GoogleResults {
  readonly results: {
    readonly alternatives: {
      readonly words: { readonly word: string; startTime?: string; endTime?: string }[];
    }[];
  }[];
}

function wordsOfGoogle({ results }: GoogleResults): TimedWord[] {
  return results.flatMap(({ alternatives: [best] }) =>
    (best?.words ?? []).map(({ word, startTime = "0s", endTime = "0s" }) => ({
      word,
      start: secondsOf(startTime),
      end: secondsOf(endTime),
    })),
  );
}

/** Returns the words of speech:recognize, which is called once for each language. */
async function expected(language: Language): Promise<readonly TimedWord[]> {
  const known = reference.get(language);
  if (known) return known;
  const path = "/v2beta1/speech:recognize";
  const { json } = await dialects.service.call("POST", path, googleRequest(language));
  const words = wordsOfGoogle(json);
  reference.set(language, words);
  return words;
}

async function sendForm(path: string, parts: readonly FormPart[]) {
  const answer = await dialects.send(parts, { path });
  assert.equal(answer.status, 200, answer.content);
  return answer;
}

async function openSocket(path: string): Promise<DialectStream> {
  const { address, key } = dialects.service;
  return await openDialectStream(address, path, { headers: bearer(key) });
}

async function ended(stream: DialectStream): Promise<void> {
  assert.equal((await within("the close", stream.closed)).code, 1000);
}

const file = (language: Language): FormPart => fileOf(wavOf(speech[language].samples));
const pcm = (language: Language): Buffer => bytesOf(speech[language].samples);

/** Each dialect as its clients use it. */
const ways: Readonly<Record<string, (language: Language) => Promise<Answer>>> = {
  "OpenAI, verbose_json": async (language) => {
    const { json } = await sendForm("/v1/audio/transcriptions", [
      file(language),
      field("language", language),
      field("response_format", "verbose_json"),
      field("timestamp_granularities[]", "word"),
    ]);
    return json.words;
  },
  "OpenAI Realtime": async (language) => {
    return await realtimeText(pcm(language), { language });
  },
  "whisper.cpp, verbose_json": async (language) => {
    const { json } = await sendForm("/inference", [
      file(language),
      field("language", language),
      field("response_format", "verbose_json"),
    ]);
    return json.segments.flatMap(({ words }: { words: TimedWord[] }) => words);
  },
  "whisper-asr, json": async (language) => {
    const { content } = await sendForm(`/asr?output=json&language=${language}`, [file(language)]);
    const { segments }: { segments: (TimedWord & { text: string })[] } = JSON.parse(content);
    return segments.map(({ text, start, end }) => ({ word: text, start, end }));
  },
  "whisper-asr, tsv": async (language) => {
    const { content } = await sendForm(`/asr?output=tsv&language=${language}`, [file(language)]);
    return content
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => {
        const [start, end, word = ""] = line.split("\t");
        return { word, start: Number(start) / 1000, end: Number(end) / 1000 };
      });
  },
  "Deepgram, a file": async (language) => {
    const { address, key } = dialects.service;
    const answer = await fetch(`${address}/v1/listen?language=${language}`, {
      method: "POST",
      headers: bearer(key),
      body: new Uint8Array(wavOf(speech[language].samples)),
    });
    const content = await answer.text();
    assert.equal(answer.status, 200, content);
    return JSON.parse(content).results.channels[0].alternatives[0].words;
  },
  "Deepgram, live": async (language) => {
    const options = `language=${language}&encoding=linear16&sample_rate=16000`;
    const stream = await openSocket(`/v1/listen?${options}`);
    stream.sendAudio(pcm(language));
    stream.send({ type: "CloseStream" });
    await ended(stream);
    return stream.messages
      .filter((message) => message.is_final === true)
      .flatMap(({ channel }) => channel.alternatives[0].words);
  },
  Vosk: async (language) => {
    const stream = await openSocket(`/vosk/${language}`);
    stream.send({ config: { sample_rate: 16_000, words: true } });
    stream.sendAudio(pcm(language));
    stream.send({ eof: 1 });
    await ended(stream);
    return stream.messages.flatMap(({ result }) => result ?? []);
  },
  jambonz: async (language) => {
    const stream = await openSocket("/jambonz");
    const format = { format: "raw", encoding: "LINEAR16", sampleRateHz: 16_000 };
    const start = { language: speech[language].tag, interimResults: false, ...format };
    stream.send({ type: "start", ...start, options: {} });
    stream.sendAudio(pcm(language));
    stream.send({ type: "stop" });
    await ended(stream);
    return stream.messages.map(({ alternatives }) => alternatives[0].transcript).join(" ");
  },
  Wyoming: async (language) => {
    const { app, address } = dialects.service;
    assert.ok(app.wyomingAddress);
    const client = await openWyomingClient(app.wyomingAddress, address);
    client.send("transcribe", { language });
    client.sendAudio(pcm(language));
    const { data } = await within("the transcript", client.waitFor("transcript"));
    await within("the end of the connection", client.closed);
    return data.text;
  },
  "Google, an operation": async (language) => {
    const { service } = dialects;
    const path = "/v1/speech:longrunningrecognize";
    const { json: begun } = await service.call("POST", path, googleRequest(language));
    const wait = `/v1/${begun.name}:wait`;
    const { json } = await service.call("POST", wait, { timeout: "60s" });
    assert.equal(json.done, true);
    return wordsOfGoogle(json.response);
  },
};

describe("speech comes back right, with the word times of speech:recognize", () => {
  for (const [name, send] of Object.entries(ways)) {
    for (const language of ["is", "en"] as const) {
      test(`${name} (${language})`, async () => {
        const answer = await send(language);
        const words = await expected(language);
        const { text } = speech[language];
        assert.equal(words.map(({ word }) => plain(word)).join(" "), text);
        if (typeof answer === "string") {
          assert.equal(plain(answer), text);
          return;
        }
        assert.equal(answer.map(({ word }) => plain(word)).join(" "), text);
        let at = 0;
        for (const { word, start, end } of answer) {
          const first = words[at];
          at += plain(word).split(" ").length;
          const last = words[at - 1];
          assert.ok(Math.abs(start - (first?.start ?? NaN)) <= 0.25, `${word} begins at ${start}`);
          assert.ok(Math.abs(end - (last?.end ?? NaN)) <= 0.25, `${word} ends at ${end}`);
        }
      });
    }
  }
});

/** Speech with a word that a hint writes otherwise, which is cheaper than a name to recognize. */
const thanks = joined(silence(300), espeak("takk fyrir komuna"), silence(500));

/** How clients of each dialect send a hint. Each way returns what was recognized. */
const hinted: Readonly<Record<string, (hint: string[]) => Promise<string>>> = {
  "OpenAI, prompt": async (hint) => await formText("/v1/audio/transcriptions", { prompt: hint }),
  "OpenAI, keywords[]": async (hint) =>
    await formText("/v1/audio/transcriptions", { "keywords[]": hint }),
  "whisper.cpp, prompt": async (hint) => await formText("/inference", { prompt: hint }),
  "whisper-asr, initial_prompt": async (hint) => {
    const query = new URLSearchParams({ language: "is", initial_prompt: hint[0] ?? "" });
    return (await sendForm(`/asr?${query.toString()}`, [fileOf(wavOf(thanks))])).content;
  },
  "Deepgram, keyterm of a file": async (hint) => {
    const { address, key } = dialects.service;
    const query = new URLSearchParams({ language: "is" });
    for (const each of hint) query.append("keyterm", each);
    const body = new Uint8Array(wavOf(thanks));
    const answer = await fetch(`${address}/v1/listen?${query.toString()}`, {
      method: "POST",
      headers: bearer(key),
      body,
    });
    return JSON.parse(await answer.text()).results.channels[0].alternatives[0].transcript;
  },
  "Deepgram, keywords of a stream": async (hint) => {
    const query = new URLSearchParams({ encoding: "linear16", sample_rate: "16000" });
    for (const each of hint) query.append("keywords", `${each}:5`);
    const stream = await openSocket(`/deepgram/is/v1/listen?${query.toString()}`);
    stream.sendAudio(bytesOf(thanks));
    stream.send({ type: "CloseStream" });
    await ended(stream);
    const finals = stream.messages.filter((message) => message.is_final === true);
    return finals.map(({ channel }) => channel.alternatives[0].transcript).join(" ");
  },
  "OpenAI Realtime, prompt": async (hint) =>
    await realtimeText(bytesOf(thanks), { language: "is", prompt: hint.join(", ") }),
  "OpenAI Realtime, keywords": async (hint) =>
    await realtimeText(bytesOf(thanks), { language: "is", keywords: hint }),
  "jambonz, options.hints": async (hint) => await jambonzText({ hints: hint, hintsBoost: 10 }),
  "jambonz, hints with a boost of their own": async (hint) =>
    await jambonzText({ hints: hint.map((phrase) => ({ phrase, boost: 10 })) }),
};

async function formText(path: string, fields: Readonly<Record<string, string[]>>): Promise<string> {
  const sent = Object.entries(fields).flatMap(([name, values]) =>
    values.map((value) => field(name, value)),
  );
  const parts = [field("language", "is"), ...sent, fileOf(wavOf(thanks))];
  return (await sendForm(path, parts)).json.text;
}

async function realtimeText(pcm: Buffer, transcription: object): Promise<string> {
  const stream = await openSocket("/v1/realtime?intent=transcription");
  const format = { type: "audio/pcm", rate: 16_000 };
  const input = { format, transcription, turn_detection: null };
  stream.send({ type: "session.update", session: { type: "transcription", audio: { input } } });
  const audio = pcm.toString("base64");
  stream.send({ type: "input_audio_buffer.append", audio });
  stream.send({ type: "input_audio_buffer.commit" });
  const completed = stream.waitFor(({ type }) => type.endsWith("transcription.completed"));
  const { transcript } = await within("the transcript", completed);
  stream.terminate();
  return transcript;
}

async function jambonzText(options: object): Promise<string> {
  const stream = await openSocket("/jambonz");
  stream.send({ type: "start", language: "is-IS", sampleRateHz: 16_000, options });
  stream.sendAudio(bytesOf(thanks));
  stream.send({ type: "stop" });
  await ended(stream);
  return stream.messages.map(({ alternatives }) => alternatives[0].transcript).join(" ");
}

describe("a hint has its effect", () => {
  for (const [way, send] of Object.entries(hinted)) {
    test(way, async () => {
      assert.match(await send(["Komuna"]), /Komuna/);
      assert.match(await send([]), /komuna/);
    });
  }

  test("Vosk, phrase_list, whose texts are in lower case", async () => {
    const said = joined(silence(300), flite("I met Siobhan Kowalczyk at the station."));
    const send = async (phrases: readonly string[]) => {
      const stream = await openSocket("/vosk/en");
      stream.send({ config: { sample_rate: 16_000, phrase_list: phrases } });
      stream.sendAudio(bytesOf(said));
      stream.send({ eof: 1 });
      await ended(stream);
      return stream.messages.flatMap(({ text }) => text ?? []).join(" ");
    };
    assert.match(await send(["Siobhan Kowalczyk", "[unk]"]), /siobhan kowalczyk/);
    assert.doesNotMatch(await send([]), /siobhan kowalczyk/);
  });
});

test("Wyoming answers describe within a second, also while all engines are taken", async () => {
  const { app, address } = dialects.service;
  const open = async () => await openWyomingClient(app.wyomingAddress ?? "", address);
  const speakers = [await open(), await open()];
  for (const each of speakers) each.sendAudio(pcm("is"), { isOpen: true });
  await until(async () => (await dialects.sessions()) === speakers.length);
  await onceWithin(1_000, async () => {
    const beganMs = performance.now();
    const client = await open();
    client.send("describe");
    await within("info", client.waitFor("info"));
    client.socket.destroy();
    return performance.now() - beganMs;
  });
  for (const each of speakers) each.socket.destroy();
  await until(async () => (await dialects.sessions()) === 0);
});
