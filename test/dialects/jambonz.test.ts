// The custom speech of jambonz, as its telephone server uses it. There is no client package: the
// client here is written from what that server sends and reads.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak, flite, joined, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { bearer, openDialectService, type DialectService } from "./dialect-service.ts";
import {
  bytesOf,
  openDialectStream,
  RefusedHandshake,
  type DialectStream,
} from "./dialect-stream.ts";

const samples = espeak("við hittumst á kaffihúsinu");
const text = "Við hittumst á kaffihúsinu.";

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService();
});
after(() => dialects[Symbol.asyncDispose]());

async function open(key = dialects.service.key): Promise<DialectStream> {
  return await openDialectStream(dialects.service.address, "/jambonz", { headers: bearer(key) });
}

/** The start as the telephone server sends it. */
function startOf(changes: object = {}): object {
  const form = { format: "raw", encoding: "LINEAR16", interimResults: false, sampleRateHz: 8_000 };
  return { type: "start", language: "is-IS", ...form, options: {}, ...changes };
}

function finalsOf({ messages }: DialectStream): string[] {
  return messages
    .filter((message) => message.is_final === true)
    .map(({ alternatives }) => alternatives[0].transcript);
}

test("a call of 8 kHz gets its final results, and the service closes after stop", async () => {
  const audio = encode(wavOf(joined(samples, silence(1_000), samples)), "narrow.wav").subarray(44);
  const stream = await open();
  stream.send(startOf());
  stream.sendAudio(audio, 320);
  stream.send({ type: "stop" });
  assert.equal((await stream.closed).code, 1000);
  assert.deepEqual(finalsOf(stream), [text, text]);
  for (const message of stream.messages) {
    const { type, is_final: isFinal, alternatives, channel, language } = message;
    assert.deepEqual([type, isFinal, channel, language], ["transcription", true, 1, "is-IS"]);
    assert.ok(alternatives[0].confidence > 0 && alternatives[0].confidence <= 1);
  }
});

test("a call of 16 kHz in English gets interim results where it asks for them", async () => {
  const stream = await open();
  stream.send(startOf({ language: "en-US", sampleRateHz: 16_000, interimResults: true }));
  stream.sendAudio(bytesOf(flite("thank you very much")));
  stream.send({ type: "stop" });
  assert.equal((await stream.closed).code, 1000);
  assert.deepEqual(finalsOf(stream), ["Thank you very much."]);
  assert.ok(stream.messages.some((message) => message.is_final === false));
});

test("what cannot be used gets an error that names each problem, and closes with 1008", async () => {
  const rows: [message: object | string, says: RegExp][] = [
    [
      startOf({ language: "xx", encoding: "MULAW", sampleRateHz: 4 }),
      /^encoding: must be LINEAR16.*sampleRateHz: must be 8000 to 48000.*language: is "xx"/,
    ],
    [
      startOf({ options: { hints: "Reykjavík" } }),
      /^options\.hints: must be a list of phrases, not "Reykjavík"/,
    ],
    [startOf({ options: { hints: ["!", { phrase: "?" }] } }), /^options\.hints: has no letter/],
    ["hello", /^message: must be JSON with a type such as start or stop/],
  ];
  for (const [message, says] of rows) {
    const stream = await open();
    stream.sendRaw(typeof message === "string" ? message : JSON.stringify(message));
    assert.equal((await stream.closed).code, 1008);
    const [{ type, error }] = stream.messages;
    assert.equal(type, "error");
    assert.match(error, says);
  }
  const twice = await open();
  twice.send(startOf());
  twice.send(startOf());
  assert.equal((await twice.closed).code, 1008);
  assert.match(twice.messages[0].error, /^type: can be start only once/);
});

test("a wrong key is refused, and a revoked one ends its calls", async () => {
  const refused = await open("wrong").catch((error: unknown) => error);
  assert.ok(refused instanceof RefusedHandshake);
  assert.deepEqual([refused.status, refused.json.type], [401, "error"]);
  const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", { scopes: ["speech"] });
  const stream = await open(key.secret);
  stream.send(startOf());
  const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
  assert.equal(revoked.status, 200);
  assert.equal((await stream.closed).code, 1008);
});
