// Clients that disconnect, in every dialect and at every stage of a call: the work ends within two
// seconds, and nothing is left.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, beforeEach, describe, test } from "node:test";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { mediaPrograms } from "../fixtures/media-programs.ts";
import { until, within } from "../fixtures/until.ts";
import {
  bearer,
  field,
  fileOf,
  longSpeech,
  openDialectService,
  shortSpeech,
  type DialectService,
} from "./dialect-service.ts";
import { bytesOf, openDialectStream, type DialectStream } from "./dialect-stream.ts";
import { formBody, type FormPart } from "./form-body.ts";
import { openWyomingClient, type WyomingClient } from "./wyoming-client.ts";

let dialects: DialectService;
let long: Buffer;
const pcm = bytesOf(espeak("við hittumst á kaffihúsinu"));

before(async () => {
  long = longSpeech();
  dialects = await openDialectService({ HLUST_WYOMING_LISTEN: "127.0.0.1:0" });
});
after(() => dialects[Symbol.asyncDispose]());
beforeEach(async () => {
  await until(async () => (await dialects.sessions()) === 0);
});

/** Fails if the work of a call is not over within two seconds, on a machine five times as slow. */
async function assertOver(): Promise<void> {
  await until(async () => (await dialects.sessions()) === 0, 10_000);
  await until(() => Promise.resolve(mediaPrograms().length === 0), 10_000);
  await dialects.assertNothingLeft();
}

/** How each dialect takes a recording: the path, and the part of the form unless it is the body. */
const files: Readonly<Record<string, { path: string; part?: string; fields?: FormPart[] }>> = {
  OpenAI: { path: "/v1/audio/transcriptions?language=en", part: "file" },
  "OpenAI, a stream of events": {
    path: "/openai/en/v1/audio/transcriptions",
    part: "file",
    fields: [field("stream", "true")],
  },
  "whisper.cpp": { path: "/inference?language=en", part: "file" },
  "whisper-asr": { path: "/asr?language=en&output=srt", part: "audio_file" },
  "whisper-asr, raw samples": { path: "/asr?language=en&encode=false", part: "audio_file" },
  Deepgram: { path: "/v1/listen?language=en" },
  "Deepgram, raw samples": {
    path: "/v1/listen?language=en&encoding=linear16&sample_rate=16000",
  },
};

/** Begins a call with a recording, and sends all of it or a part. */
function send(
  { path, part, fields = [] }: (typeof files)[string],
  recording: Buffer,
  { fraction = 1, key = dialects.service.key } = {},
) {
  const form = part !== undefined && formBody([...fields, { ...fileOf(recording), name: part }]);
  const body = form ? form.body : recording;
  const headers = {
    ...bearer(key),
    "content-type": form ? form.contentType : "audio/wav",
    "content-length": body.length,
  };
  const call = request(`${dialects.service.address}${path}`, { method: "POST", headers });
  call.on("error", () => {});
  if (fraction === 1) call.end(body);
  else call.write(body.subarray(0, Math.floor(body.length * fraction)));
  return call;
}

describe("a client that disconnects while its recording is recognized", () => {
  for (const [name, way] of Object.entries(files)) {
    test(name, async () => {
      const call = send(way, long);
      await until(async () => (await dialects.sessions()) > 0);
      call.destroy();
      await assertOver();
    });
  }

  test("OpenAI, after the first event", async () => {
    const path = "/openai/is/v1/audio/transcriptions";
    const call = send({ path, part: "file", fields: [field("stream", "true")] }, long);
    const [response] = await once(call, "response");
    const [first] = await once(response, "data");
    assert.match(`${first}`, /transcript\.text\.delta|: alive/);
    call.destroy();
    await assertOver();
  });
});

describe("a client that disconnects in the middle of its recording", () => {
  for (const [name, way] of Object.entries({
    ...files,
    "whisper-asr, detect-language": { path: "/detect-language", part: "audio_file" },
  })) {
    test(name, async () => {
      const call = send(way, long, { fraction: 0.5 });
      // All that was sent is written, so the service waits for more.
      await until(async () => (await dialects.scratchBytes()) > 0.4 * long.length);
      call.destroy();
      await assertOver();
    });
  }
});

test("a client that disconnects while its recording waits gives up its turn", async () => {
  const { db } = dialects.database;
  const { token } = await addApiKey(db, await addAccount(db), ["speech"]);
  const calls = Array.from({ length: 12 }, () =>
    send(files["OpenAI"] ?? assert.fail(), long, { key: token }),
  );
  await until(async () => (await dialects.scratchBytes()) >= calls.length * long.length);
  for (const call of calls) call.destroy();
  await assertOver();
  const { status } = await dialects.send([fileOf(shortSpeech())], { headers: bearer(token) });
  assert.equal(status, 200);
});

/** How each dialect begins a live call, whose end the client does not send. */
const sockets: Readonly<Record<string, { path: string; begin: (stream: DialectStream) => void }>> =
  {
    "OpenAI Realtime": {
      path: "/v1/realtime?intent=transcription",
      begin(stream) {
        const audio = pcm.toString("base64");
        stream.send({ type: "input_audio_buffer.append", audio });
      },
    },
    "Deepgram, samples": {
      path: "/v1/listen?language=is&encoding=linear16&sample_rate=16000&interim_results=true",
      begin: (stream) => stream.sendAudio(pcm),
    },
    "Deepgram, WebM": {
      path: "/v1/listen?language=is",
      begin: (stream) => stream.sendAudio(encode(wavOf(espeak("hún býr í húsi")), "webm")),
    },
    Vosk: {
      path: "/vosk/is",
      begin(stream) {
        stream.send({ config: { sample_rate: 16_000 } });
        stream.sendAudio(pcm);
      },
    },
    jambonz: {
      path: "/jambonz",
      begin(stream) {
        stream.send({ type: "start", language: "is-IS", sampleRateHz: 16_000 });
        stream.sendAudio(pcm);
      },
    },
  };

describe("a client that disconnects in the middle of live audio", () => {
  for (const [name, { path, begin }] of Object.entries(sockets)) {
    test(name, async () => {
      const { address, key } = dialects.service;
      const stream = await openDialectStream(address, path, { headers: bearer(key) });
      begin(stream);
      await until(async () => (await dialects.sessions()) > 0);
      stream.terminate();
      await assertOver();
    });
  }

  for (const [how, leave] of [
    ["closes the connection", (client: WyomingClient) => client.socket.end()],
    ["resets the connection", (client: WyomingClient) => client.socket.resetAndDestroy()],
  ] as const) {
    test(`Wyoming, a client that ${how}`, async () => {
      const { app, address } = dialects.service;
      const client = await openWyomingClient(app.wyomingAddress ?? "", address);
      client.send("transcribe", { language: "is" });
      client.sendAudio(pcm, { isOpen: true });
      await until(async () => (await dialects.sessions()) > 0);
      leave(client);
      await assertOver();
      await within("the end of the connection", client.closed);
    });
  }
});
