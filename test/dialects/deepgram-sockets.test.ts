// What sockets of Deepgram's protocol do besides what its client shows: credentials, forms of
// audio, errors, limits and ends.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setAccountLimits } from "../../src/accounts/set-account-limits.ts";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak, joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { bearer, openDialectService, type DialectService } from "./dialect-service.ts";
import {
  bytesOf,
  openDialectStream,
  RefusedHandshake,
  type DialectStream,
} from "./dialect-stream.ts";

const samples = espeak("við hittumst á kaffihúsinu");
const said = "við hittumst á kaffihúsinu";
const bare = "/v1/listen?encoding=linear16&sample_rate=16000";

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService();
});
after(() => dialects[Symbol.asyncDispose]());

async function open(
  path: string,
  options: Parameters<typeof openDialectStream>[2] = {
    headers: { authorization: `Token ${dialects.service.key}` },
  },
): Promise<DialectStream> {
  return await openDialectStream(dialects.service.address, path, options);
}

async function refusalOf(
  path: string,
  headers: Record<string, string> = { authorization: `Token ${dialects.service.key}` },
): Promise<RefusedHandshake> {
  const refused = await open(path, { headers }).catch((error: unknown) => error);
  assert.ok(refused instanceof RefusedHandshake, "the handshake was not refused");
  return refused;
}

function textOf({ messages }: DialectStream): string {
  return messages
    .filter((message) => message.is_final === true)
    .map((message) => message.channel.alternatives[0].transcript)
    .join(" ")
    .trim();
}

const post = async (
  query: string,
  body: Uint8Array | string,
  contentType = "audio/wav",
): Promise<Response> =>
  await fetch(`${dialects.service.address}/v1/listen?${query}`, {
    method: "POST",
    headers: { "content-type": contentType, authorization: `Token ${dialects.service.key}` },
    body: Buffer.from(body),
  });
// oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
const jsonOf = async (answer: Response): Promise<any> => await answer.json();

/** Returns the words of alternatives as they were said. */
function spokenText(alternatives: { words: { word: string }[] }[]): string {
  return alternatives.flatMap(({ words }) => words.map(({ word }) => word)).join(" ");
}

describe("a socket at /v1/listen", () => {
  test("takes the key in each form in which clients send it", async () => {
    const { key, address } = dialects.service;
    const { json } = await dialects.service.call("POST", "/v1/streamTokens", {});
    const rows: [options: Parameters<typeof open>[1], path: string, protocol: string][] = [
      [{ headers: { authorization: `Token ${key}` } }, bare, ""],
      [{ headers: { authorization: `token ${key}` } }, bare, ""],
      [{ headers: bearer(key) }, bare, ""],
      [{ protocols: ["token", key] }, bare, "token"],
      [{ protocols: ["bearer", key] }, bare, "bearer"],
      [{ protocols: ["token", key, "x-deepgram-session-id", "7"] }, bare, "token"],
      [{ protocols: ["bearer", json.token] }, bare, "bearer"],
      [{}, `${bare}&token=${key}`, ""],
    ];
    for (const [options, path, protocol] of rows) {
      const stream = await openDialectStream(address, path, options);
      assert.equal(stream.protocol, protocol);
      stream.send({ type: "CloseStream" });
      assert.equal((await stream.closed).code, 1000);
      assert.deepEqual(
        stream.messages.map(({ type, duration }) => [type, duration]),
        [["Metadata", 0]],
      );
    }
  });

  test("understands each form of audio", async () => {
    const wav = wavOf(samples);
    const stereo = Int16Array.from({ length: 2 * samples.length }, (_, at) =>
      at % 2 === 0 ? (samples[at / 2] ?? 0) : 0,
    );
    const floats = Float32Array.from(samples, (sample) => sample / 32_768);
    const rows: [what: string, query: string, audio: Buffer][] = [
      ["LINEAR16", "encoding=linear16&sample_rate=16000", bytesOf(samples)],
      ["LINEAR16 with a header", "encoding=linear16&sample_rate=16000", wav],
      ["two channels", "encoding=linear16&sample_rate=16000&channels=2", bytesOf(stereo)],
      ["linear32", "encoding=linear32&sample_rate=16000", Buffer.from(floats.buffer)],
      ["mu-law", "encoding=mulaw&sample_rate=8000", encode(wav, "mulaw.wav")],
      ["A-law", "encoding=alaw&sample_rate=8000", encode(wav, "alaw.wav")],
      ["WAV", "", wav],
      ["WebM with Opus", "", encode(wav, "webm")],
      ["Ogg with Opus", "encoding=opus", encode(wav, "opus.ogg")],
      ["MP3", "encoding=mp3", encode(wav, "mp3")],
      ["FLAC", "encoding=flac", encode(wav, "flac")],
    ];
    for (const [what, query, audio] of rows) {
      const stream = await open(`/v1/listen?language=is&${query}`);
      // Odd sizes split samples.
      stream.sendAudio(audio, 3_331);
      stream.send({ type: "CloseStream" });
      assert.equal((await stream.closed).code, 1000, what);
      assert.equal(textOf(stream), said, what);
      const { duration } = stream.messages.at(-1);
      assert.ok(Math.abs(duration - samples.length / 16_000) < 0.2, `${what}: ${duration} s`);
    }
  });

  test("ends with an empty message, as older clients do", async () => {
    const stream = await open(`${bare}&language=is`);
    stream.sendAudio(bytesOf(samples));
    stream.sendRaw(new Uint8Array(0));
    assert.equal((await stream.closed).code, 1000);
    assert.equal(textOf(stream), said);
  });

  test("answers Finalize in a container", async () => {
    const stream = await open("/v1/listen?language=is");
    stream.send({ type: "Finalize" });
    stream.sendAudio(encode(wavOf(samples), "webm"), 2_000);
    stream.send({ type: "Finalize" });
    stream.send({ type: "CloseStream" });
    assert.equal((await stream.closed).code, 1000);
    const results = stream.messages.filter(({ type }) => type === "Results");
    assert.equal(results.filter((each) => each.from_finalize).length, 2);
    assert.equal(textOf(stream), said);
  });

  test("ignores options and messages that it does not know", async () => {
    const unknown = "version=latest&tag=a&tag=b&mip_opt_out=true&filler_words=true&no_delay=true";
    const stream = await open(`${bare}&language=is-IS&model=nova-9&${unknown}&diarize=true`);
    stream.send({ type: "Configure", features: {} });
    stream.sendAudio(bytesOf(samples));
    stream.send({ type: "CloseStream" });
    assert.equal((await stream.closed).code, 1000);
    assert.equal(textOf(stream), said);
  });

  test("masks, punctuates and formats only where it is requested", async () => {
    const speech = bytesOf(espeak("hún er fædd þriðja maí"));
    const texts: string[] = [];
    const spoken: string[] = [];
    for (const options of ["", "&punctuate=true", "&smart_format=true"]) {
      const stream = await open(`${bare}&language=is${options}`);
      stream.sendAudio(speech);
      stream.send({ type: "CloseStream" });
      await stream.closed;
      texts.push(textOf(stream));
      const finals = stream.messages.filter((message) => message.is_final === true);
      spoken.push(spokenText(finals.map(({ channel }) => channel.alternatives[0])));
    }
    const file = await post("language=is&smart_format=true", wavOf(espeak("þriðja maí")));
    const { results } = await jsonOf(file);
    const [best] = results.channels[0].alternatives;
    assert.equal(best.transcript, "3. maí.");
    assert.equal(spokenText([best]), "þriðja maí");
    assert.deepEqual(spoken, [texts[0], texts[0], texts[0]], "words are as they are said");
    assert.equal(texts[0], texts[0]?.toLowerCase().replaceAll(/[.,?]/g, ""));
    assert.match(texts[1] ?? "", /^\p{Lu}.*\.$/u);
    assert.match(texts[2] ?? "", /^\p{Lu}.*\.$/u);
    assert.notEqual(texts[2], texts[1], "digits");
  });
});

describe("a handshake", () => {
  test("is refused with every violation, in Deepgram's form", async () => {
    const query = [
      "encoding=speex",
      "language=xx",
      "redact=pci",
      "callback=http://a.example",
      "endpointing=soon",
      "utterance_end_ms=late",
      "alternatives=99",
      "keyterm=!",
    ];
    const { status, json } = await refusalOf(`/v1/listen?${query.join("&")}`);
    assert.equal(status, 400);
    assert.equal(json.err_code, "Bad Request");
    assert.match(json.request_id, /^[\w-]+$/);
    for (const each of query) assert.match(json.err_msg, new RegExp(`${each.split("=")[0]}: `));
    const raw = await refusalOf("/v1/listen?encoding=linear16&channels=9&multichannel=true");
    assert.match(raw.json.err_msg, /multichannel: .*sample_rate: is required.*channels: must be/);
    const rate = await refusalOf("/v1/listen?encoding=mulaw&sample_rate=4000");
    assert.match(rate.json.err_msg, /sample_rate: must be 8000 to 48000, not "4000"/);
  });

  test("without a valid key is refused", async () => {
    for (const headers of [{}, { authorization: "Token wrong" }]) {
      const { status, json } = await refusalOf(bare, headers);
      assert.equal(status, 401);
      assert.equal(json.err_code, "INVALID_AUTH");
    }
  });

  test("with a key that lacks the scope is refused", async () => {
    const scopes = ["transcripts.read"];
    const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", { scopes });
    const { status, json } = await refusalOf(bare, bearer(key.secret));
    assert.deepEqual([status, json.err_code], [403, "INSUFFICIENT_PERMISSIONS"]);
  });

  test("above the account's number of streams is refused until one ends", async () => {
    const { db } = dialects.database;
    const accountId = await addAccount(db);
    const operator = { actor: "operator", origin: { address: "", requestId: "" } };
    await setAccountLimits(db, operator, accountId, { concurrentStreams: 1 });
    const { token } = await addApiKey(db, accountId, ["speech", "account"]);
    const first = await open(bare, { headers: bearer(token) });
    const headers = bearer(token);
    const account = async () =>
      await callRest(dialects.service.address, token, { method: "GET", path: "/v1/account" });
    await until(async () => (await account()).json.usage.concurrentStreams === 1);
    const { status, json } = await refusalOf(bare, bearer(token));
    assert.deepEqual([status, json.err_code], [429, "TOO_MANY_REQUESTS"]);
    first.terminate();
    await until(async () => {
      const next = await open(bare, { headers }).catch(() => undefined);
      next?.terminate();
      return next !== undefined;
    });
  });
});

describe("an open socket", () => {
  test("ends with the day's audio, after the results so far, and counts it", async () => {
    const { db } = dialects.database;
    const accountId = await addAccount(db);
    const operator = { actor: "operator", origin: { address: "", requestId: "" } };
    await setAccountLimits(db, operator, accountId, { audioSecondsPerDay: 3 });
    const { token } = await addApiKey(db, accountId, ["speech", "account"]);
    const stream = await open(`${bare}&language=is`, { headers: bearer(token) });
    stream.sendAudio(bytesOf(joined(samples, noise(3_000, 3))));
    const { code, reason } = await stream.closed;
    assert.equal(code, 1011);
    assert.match(reason, /^NET-0000: /);
    assert.equal(textOf(stream), said);
    assert.equal(stream.messages.at(-1).type, "Error");
    const account = { method: "GET", path: "/v1/account" };
    const { usage } = (await callRest(dialects.service.address, token, account)).json;
    assert.equal(usage.audioSecondsPerDay, 3);
  });

  test("ends with 1008 for audio and messages that it cannot read", async () => {
    const text = Buffer.from("this is not audio but a long English sentence. ".repeat(20));
    const container = await open("/v1/listen?language=is");
    container.sendRaw(text);
    container.send({ type: "CloseStream" });
    const broken = await container.closed;
    assert.equal(broken.code, 1008);
    assert.match(broken.reason, /^DATA-0000: audio: looks like/);
    assert.equal(container.messages.at(-1).variant, "DATA-0000");

    const webm = await open(`${bare}&language=is`);
    webm.sendRaw(encode(wavOf(samples), "webm"));
    assert.match((await webm.closed).reason, /^DATA-0000: audio: looks like (?:audio|video)\/webm/);

    const stream = await open(bare);
    stream.sendRaw("KeepAlive");
    const { code, reason } = await stream.closed;
    assert.equal(code, 1008);
    assert.match(reason, /^DATA-0000: message: must be binary audio, or JSON/);
  });

  test("ends with NET-0001 after ten seconds without a message, but not with KeepAlive", async () => {
    const alive = await open(`${bare}&language=is`);
    const keeping = setInterval(() => alive.send({ type: "KeepAlive" }), 1_000);
    const stream = await open(`${bare}&language=is`);
    stream.sendAudio(bytesOf(samples));
    const { code, reason } = await within("the end of the socket", stream.closed, 120_000);
    assert.equal(code, 1011);
    assert.match(reason, /did not receive audio data or a text message within the timeout window/);
    assert.equal(textOf(stream), said);
    const { type, variant } = stream.messages.at(-1);
    assert.deepEqual([type, variant], ["Error", "NET-0001"]);
    clearInterval(keeping);
    assert.deepEqual(alive.messages, []);
    alive.sendAudio(bytesOf(samples));
    alive.send({ type: "CloseStream" });
    assert.equal((await alive.closed).code, 1000);
    assert.equal(textOf(alive), said);
  });

  test("ends at once when its key is revoked", async () => {
    const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", {
      scopes: ["speech"],
    });
    const stream = await open(`${bare}&language=is`, { headers: bearer(key.secret) });
    stream.sendAudio(bytesOf(silence(500)));
    const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
    assert.equal(revoked.status, 200);
    const { code } = await stream.closed;
    assert.equal(code, 1008);
    assert.equal(stream.messages.at(-1).type, "Error");
  });
});

describe("POST /v1/listen", () => {
  test("understands samples without a header, and media of any name", async () => {
    const wav = wavOf(samples);
    const mulaw = encode(wav, "mulaw.wav");
    const rows: [query: string, body: Uint8Array, contentType: string][] = [
      ["", wav, "application/octet-stream"],
      ["", encode(wav, "mp3"), "text/plain"],
      ["encoding=linear16&sample_rate=16000", bytesOf(samples), "audio/l16"],
      ["encoding=linear16&sample_rate=16000", wav, "audio/wav"],
      ["encoding=mulaw&sample_rate=8000", mulaw.subarray(mulaw.length - 14_900), "audio/basic"],
    ];
    for (const [query, body, contentType] of rows) {
      const answer = await post(`language=is&${query}`, body, contentType);
      const { results } = await jsonOf(answer);
      assert.equal(results.channels[0].alternatives[0].transcript, said, query);
    }
    await dialects.assertNothingLeft();
  });

  test("refuses what it cannot do, in Deepgram's form", async () => {
    const wav = wavOf(silence(100));
    const json = "application/json";
    const rows: [query: string, body: Uint8Array | string, contentType: string, says: RegExp][] = [
      [
        "",
        '{"url":"https://media.example/a.wav"}',
        json,
        /^url: cannot be used: send the recording/,
      ],
      ["diarize=true&encoding=g729", wav, "audio/wav", /diarize: .*encoding: must be linear16,/],
      ["multichannel=true", wav, "audio/wav", /^multichannel: cannot be used: channels are mixed/],
      ["", "", "audio/wav", /the body is empty/],
      ["", "no recording, but text", "audio/wav", /./],
    ];
    for (const [query, body, contentType, says] of rows) {
      const answer = await post(query, body, contentType);
      const { err_code: code, err_msg: message, request_id: id } = await jsonOf(answer);
      assert.deepEqual([answer.status, code], [400, "Bad Request"], message);
      assert.match(message, says);
      assert.equal(id, answer.headers.get("x-request-id"));
    }
    await dialects.assertNothingLeft();
  });

  test("answers silence with an empty transcript", async () => {
    const { results } = await jsonOf(await post("utterances=true", wavOf(noise(1_500, 3))));
    const [{ alternatives }] = results.channels;
    assert.deepEqual(alternatives, [{ transcript: "", confidence: 0, words: [] }]);
    assert.deepEqual(results.utterances, []);
  });
});
