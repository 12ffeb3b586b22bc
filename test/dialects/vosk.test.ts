// The WebSocket of Vosk's server, as the programs use it that know it. There is no client package:
// each of them is a small client here, written from what it sends and expects.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { espeak, flite, joined, noise, silence } from "../fixtures/flite.ts";
import { encode } from "../fixtures/encoded-audio.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { finalsOf, openStream, secondsOf, streamingConfig } from "../spec/stream.ts";
import { bearer, openDialectService, type DialectService } from "./dialect-service.ts";
import {
  bytesOf,
  openDialectStream,
  RefusedHandshake,
  type DialectStream,
} from "./dialect-stream.ts";

const samples = espeak("við hittumst á kaffihúsinu");
const said = "við hittumst á kaffihúsinu";
const frameBytes = 3_200;

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService();
});
after(() => dialects[Symbol.asyncDispose]());

async function open(
  path = "/vosk/is",
  options: Parameters<typeof openDialectStream>[2] = { headers: bearer(dialects.service.key) },
): Promise<DialectStream> {
  return await openDialectStream(dialects.service.address, path, options);
}

function framesOf(audio: Buffer, bytes = frameBytes): Buffer[] {
  const count = Math.ceil(audio.length / bytes);
  return Array.from({ length: count }, (_, at) => audio.subarray(at * bytes, (at + 1) * bytes));
}

/** Waits until the service has sent this number of messages. */
async function received(stream: DialectStream, count: number): Promise<void> {
  await stream.waitFor(() => stream.messages.length >= count);
}

/** Sends each frame and waits for its answer, as most clients do. */
async function lockStep(stream: DialectStream, frames: readonly Buffer[]): Promise<void> {
  for (const frame of frames) {
    const before = stream.messages.length;
    stream.sendRaw(frame);
    await received(stream, before + 1);
  }
}

/** Ends a stream as all clients do. Returns its texts. */
async function end(stream: DialectStream, eof = '{"eof" : 1}'): Promise<string[]> {
  stream.sendRaw(eof);
  const { code } = await stream.closed;
  assert.equal(code, 1000);
  return finalTexts(stream);
}

function finalTexts({ messages }: DialectStream): string[] {
  return messages.flatMap((message) => message.text ?? []).filter((text) => text !== "");
}

const config = (value: object): string => JSON.stringify({ config: value });
const at16k = config({ sample_rate: 16_000 });

describe("what clients of Vosk send", () => {
  test("FreeSWITCH: telephone audio without a configuration, answers without empty strings", async () => {
    const wav = encode(wavOf(samples), "narrow.wav");
    const stream = await open("/vosk/is", { headers: bearer(dialects.service.key) });
    await lockStep(stream, framesOf(wav.subarray(44)));
    assert.deepEqual(await end(stream), [said]);
    // mod_vosk ignores every answer with two quotes in a row.
    const useful = stream.texts.filter((text) => !text.includes('""'));
    assert.ok(useful.at(-1)?.includes(`"text" : "${said}"`));
    for (const text of stream.texts) assert.match(text, /^\{"(?:partial|text|result)" : /);
  });

  test("Asterisk: the subprotocol ws, one answer for each frame, and the end", async () => {
    const stream = await open("/vosk/is", {
      protocols: ["ws"],
      perMessageDeflate: false,
      headers: bearer(dialects.service.key),
    });
    assert.equal(stream.protocol, "ws");
    stream.sendRaw(at16k);
    const frames = framesOf(bytesOf(samples), 640);
    await lockStep(stream, frames);
    assert.equal(stream.messages.length, frames.length);
    assert.deepEqual(await end(stream, '{"eof":1}'), [said]);
    assert.equal(stream.messages.length, frames.length + 1);
  });

  test("Jitsi: configuration, audio and the end at once", async () => {
    const stream = await open();
    stream.sendRaw(config({ sample_rate: 16_000.0, words: true }));
    stream.sendRaw(bytesOf(samples));
    assert.deepEqual(await end(stream), [said]);
    for (const message of stream.messages) assert.ok("partial" in message || "text" in message);
    assert.equal(stream.messages.length, 2);
  });

  test("BigBlueButton: Basic in the address, a rate in quotes, messages of its own, an empty frame", async () => {
    const basic = Buffer.from(`user:${dialects.service.key}`).toString("base64");
    const stream = await open("/vosk/is-IS", {
      protocols: ["audio.drachtio.org"],
      headers: { authorization: `Basic ${basic}` },
    });
    assert.equal(stream.protocol, "audio.drachtio.org");
    stream.sendRaw(JSON.stringify({ event: "start", meetingId: "1" }));
    stream.sendRaw(config({ sample_rate: "16000" }));
    const frames = framesOf(bytesOf(samples));
    await lockStep(stream, frames);
    stream.sendRaw(new Uint8Array(0));
    await received(stream, frames.length + 1);
    stream.sendRaw(JSON.stringify({ event: "end" }));
    assert.deepEqual(await end(stream), [said]);
    assert.equal(stream.messages.length, frames.length + 2);
  });
});

describe("a socket at /vosk", () => {
  const rows = [
    { language: "is", tag: "is-IS", samples, text: said },
    {
      language: "en",
      tag: "en-US",
      samples: flite("thank you very much"),
      text: "thank you very much",
    },
  ];
  for (const { language, tag, samples: speech, text } of rows) {
    test(`has the words and times of our own stream (${language})`, async () => {
      const audio = bytesOf(joined(noise(700, 3), speech));
      const stream = await open(`/vosk/${language}`);
      stream.sendRaw(at16k);
      await lockStep(stream, framesOf(audio));
      assert.deepEqual(await end(stream), [text]);
      const own = await openStream(dialects.service.address, { token: dialects.service.key });
      own.send(streamingConfig({ languageCode: tag, enableWordTimeOffsets: true }));
      own.sendAudio(audio);
      own.sendRaw(JSON.stringify({ audioContent: "" }));
      await own.closed;
      const expected = finalsOf(own.messages).flatMap(({ words }) => words ?? []);
      const words = stream.messages.flatMap(({ result }) => result ?? []);
      assert.deepEqual(
        words.map(({ word }) => word),
        expected.map(({ word }) => word),
      );
      for (const [at, { start, end: endsAt, conf }] of words.entries()) {
        assert.ok(Math.abs(start - secondsOf(expected[at]?.startTime ?? "0s")) <= 0.25);
        assert.ok(endsAt > start && conf > 0 && conf <= 1);
      }
    });
  }

  test("answers each frame once, also when the client waits for none, and joins what is left", async () => {
    const three = joined(samples, silence(1_000), samples, silence(1_000), samples);
    const stream = await open();
    stream.sendRaw(at16k);
    // Odd sizes split samples.
    const frames = framesOf(bytesOf(three), 3_331);
    for (const frame of frames) stream.sendRaw(frame);
    const texts = await end(stream);
    assert.equal(stream.messages.length, frames.length + 1);
    assert.equal(texts.join(" "), [said, said, said].join(" "));
    const words = stream.messages.flatMap(({ result }) => result ?? []);
    assert.equal(words.length, 12);
    const starts = words.map(({ start }) => start);
    assert.deepEqual(
      starts,
      starts.toSorted((a, b) => a - b),
    );
    assert.ok(starts.at(-1) > 4);
  });

  test("ends an utterance at a reset with one answer, and continues", async () => {
    const stream = await open();
    stream.sendRaw(at16k);
    const frames = framesOf(bytesOf(samples));
    await lockStep(stream, frames);
    for (const text of [said, ""]) {
      const before = stream.messages.length;
      stream.sendRaw('{"reset" : 1}');
      await received(stream, before + 1);
      assert.equal(stream.messages.at(-1).text, text);
    }
    await lockStep(stream, frames);
    assert.deepEqual(await end(stream), [said, said]);
    const words = stream.messages.flatMap(({ result }) => result ?? []);
    assert.ok(Math.abs(words[4].start - words[0].start - samples.length / 16_000) <= 0.25);
    assert.equal(stream.messages.length, 2 * frames.length + 3);
  });

  test("has no words, or a list of alternatives, where the client asks for it", async () => {
    const audio = bytesOf(samples);
    const answerTo = async (value: object): Promise<unknown> => {
      const stream = await open();
      stream.sendRaw(config({ sample_rate: 16_000, ...value }));
      stream.sendRaw(audio);
      await end(stream);
      return stream.messages.at(-1);
    };
    assert.deepEqual(await answerTo({ words: false }), { text: said });
    assert.deepEqual(await answerTo({ words: 0, phrase_list: ["kaffihúsinu", "[unk]"] }), {
      text: said,
    });
    const stream = await open();
    stream.sendRaw(config({ sample_rate: 16_000, max_alternatives: 3 }));
    stream.sendRaw(audio);
    await end(stream);
    const { alternatives, text } = stream.messages.at(-1);
    assert.equal(text, undefined);
    assert.ok(alternatives.length >= 1 && alternatives.length <= 3);
    const [first] = alternatives;
    assert.equal(first.text, said);
    assert.equal(typeof first.confidence, "number");
    assert.deepEqual(Object.keys(first.result[0]), ["end", "start", "word"]);
  });

  test("answers the end without speech, and without audio, with an empty text", async () => {
    for (const audio of [silence(500), silence(0)]) {
      const stream = await open();
      if (audio.length > 0) await lockStep(stream, framesOf(bytesOf(audio)));
      await end(stream);
      assert.deepEqual(stream.messages.at(-1), { text: "" });
    }
  });

  test("closes with a reason for what it cannot read", async () => {
    const rows: [message: string | Buffer, reason: RegExp][] = [
      [
        config({ sample_rate: 100, max_alternatives: "x", phrase_list: "a" }),
        /^config\.sample_rate: must be 8000 to 48000, not 100; config\.max_alternatives: must be/,
      ],
      [config({ phrase_list: ["a", "!"] }), /^config\.phrase_list: has no letter or digit/],
      ["eof", /^message: must be JSON with config, eof or reset, or binary audio/],
      [encode(wavOf(samples), "webm"), /^audio: looks like \w+\/webm/],
    ];
    for (const [message, reason] of rows) {
      const stream = await open();
      stream.sendRaw(message);
      stream.sendRaw('{"eof" : 1}');
      const closed = await stream.closed;
      assert.equal(closed.code, 1008);
      assert.match(closed.reason, reason);
    }
  });

  test("takes the key in the address too, and nothing without one", async () => {
    const { key } = dialects.service;
    const stream = await open(`/vosk?token=${key}`, {});
    assert.deepEqual(await end(stream), []);
    for (const [path, status] of [
      ["/vosk", 401],
      [`/vosk/xx?token=${key}`, 400],
    ] as const) {
      const refused = await open(path, {}).catch((error: unknown) => error);
      assert.ok(refused instanceof RefusedHandshake);
      assert.equal(refused.status, status);
      assert.match(refused.json.error, status === 401 ? /token is required/ : /language: is "xx"/);
    }
  });

  test("ends at once when its key is revoked", async () => {
    const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", {
      scopes: ["speech"],
    });
    const stream = await open("/vosk/is", { headers: bearer(key.secret) });
    await lockStep(stream, framesOf(bytesOf(silence(500))));
    const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
    assert.equal(revoked.status, 200);
    assert.equal((await stream.closed).code, 1008);
  });
});
