// OpenAI's Realtime API for transcription, with OpenAI's client and as other clients use it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak, joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { trustedCertificate } from "../fixtures/trusted-certificate.ts";
import { bearer, openDialectService, type DialectService } from "./dialect-service.ts";
import { bytesOf, openDialectStream, type DialectStream } from "./dialect-stream.ts";

const samples = espeak("við hittumst á kaffihúsinu");
const text = "Við hittumst á kaffihúsinu.";
const pcm16k = { type: "audio/pcm", rate: 16_000 };
const turnMs = samples.length / 16;

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService();
});
after(() => dialects[Symbol.asyncDispose]());

async function open(
  path = "/v1/realtime?intent=transcription",
  options: Parameters<typeof openDialectStream>[2] = { headers: bearer(dialects.service.key) },
): Promise<DialectStream> {
  const stream = await openDialectStream(dialects.service.address, path, options);
  await stream.waitFor(({ type }) => type === "session.created");
  return stream;
}

function update(input: object): object {
  return { type: "session.update", session: { type: "transcription", audio: { input } } };
}

/** Appends audio in base64, in messages of 100 ms at 16 kHz. */
function append(stream: DialectStream, audio: Buffer): void {
  for (let at = 0; at < audio.length; at += 3_200) {
    const part = audio.subarray(at, at + 3_200).toString("base64");
    stream.send({ type: "input_audio_buffer.append", audio: part });
  }
}

function textsOf({ messages }: DialectStream): string[] {
  return messages
    .filter(({ type }) => type.endsWith("transcription.completed"))
    .map(({ transcript }) => transcript);
}

async function completed(stream: DialectStream, count: number): Promise<void> {
  await stream.waitFor(() => textsOf(stream).length >= count);
}

const commit = { type: "input_audio_buffer.commit" };

describe("OpenAI's client", () => {
  let folder: string;
  let proxy: Server;

  // The client speaks to wss addresses only.
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "hlust-realtime-"));
    const { certificate, key } = await trustedCertificate(folder, ["127.0.0.1"]);
    const { hostname, port } = new URL(dialects.service.address);
    const pair = { cert: readFileSync(certificate), key: readFileSync(key) };
    proxy = createServer(pair, (socket) => {
      const behind = connect(Number(port), hostname);
      socket.pipe(behind).pipe(socket);
      for (const each of [socket, behind]) {
        each.on("error", () => {
          socket.destroy();
          behind.destroy();
        });
      }
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
  });
  after(() => {
    proxy.close();
    rmSync(folder, { recursive: true });
  });

  test("transcribes what it appends", async () => {
    const address = proxy.address();
    assert.ok(typeof address === "object" && address !== null);
    const client = new OpenAI({
      apiKey: dialects.service.key,
      baseURL: `https://127.0.0.1:${address.port}/v1`,
    });
    const realtime = new OpenAIRealtimeWS({ intent: "transcription" }, client);
    const types: string[] = [];
    let transcript = "";
    let deltas = "";
    const done = new Promise<void>((resolve, reject) => {
      realtime.on("error", reject);
      realtime.on("event", (event) => {
        types.push(event.type);
        if (event.type === "conversation.item.input_audio_transcription.delta") {
          deltas += event.delta ?? "";
        }
        if (event.type !== "conversation.item.input_audio_transcription.completed") return;
        ({ transcript } = event);
        assert.equal(event.usage.type, "duration");
        resolve();
      });
      realtime.socket.on("open", () => {
        realtime.send({
          type: "session.update",
          session: {
            type: "transcription",
            audio: {
              input: {
                format: { type: "audio/pcm", rate: 24_000 },
                transcription: { model: "gpt-4o-transcribe", language: "is" },
                turn_detection: { type: "server_vad", silence_duration_ms: 350 },
              },
            },
          },
        });
        // 24 kHz is the only rate that the client's types allow.
        const audio = samplesIn("wide.wav", joined(samples, silence(1_000)));
        for (let at = 0; at < audio.length; at += 4_800) {
          const part = audio.subarray(at, at + 4_800).toString("base64");
          realtime.send({ type: "input_audio_buffer.append", audio: part });
        }
      });
    });
    await done;
    realtime.close();
    assert.equal(transcript, text);
    assert.equal(deltas, text);
    assert.deepEqual(types, [
      "session.created",
      "session.updated",
      "input_audio_buffer.speech_started",
      "input_audio_buffer.speech_stopped",
      "input_audio_buffer.committed",
      "conversation.item.added",
      "conversation.item.done",
      "conversation.item.input_audio_transcription.delta",
      "conversation.item.input_audio_transcription.completed",
    ]);
  });

  test("creates a secret with which a browser opens one socket", async () => {
    const client = new OpenAI({
      apiKey: dialects.service.key,
      baseURL: `${dialects.service.address}/v1`,
      maxRetries: 0,
    });
    const secret = await client.realtime.clientSecrets.create({
      session: { type: "transcription", audio: { input: { transcription: { language: "is" } } } },
    });
    assert.equal(secret.session.type, "transcription");
    assert.ok(Math.abs(secret.expires_at - Date.now() / 1000 - 60) < 30);
    const protocols = ["realtime", `openai-insecure-api-key.${secret.value}`];
    const stream = await open(undefined, { protocols });
    assert.equal(stream.protocol, "realtime");
    stream.terminate();
    await assert.rejects(open(undefined, { protocols }), /HTTP 401/);
    const refused = client.realtime.clientSecrets.create({
      session: { type: "transcription", audio: { input: { transcription: { language: "xx" } } } },
    });
    await assert.rejects(refused, /transcription\.language: is "xx"/);
  });
});

/** Returns the samples of speech in another form, without a header. */
function samplesIn(format: "mulaw.wav" | "wide.wav", speech: Int16Array): Buffer {
  const wav = encode(wavOf(speech), format);
  return wav.subarray(wav.indexOf("data") + 8);
}

describe("a socket at /v1/realtime", () => {
  test("Pipecat: without turn detection, a commit gets the text of all utterances before it", async () => {
    const stream = await open();
    stream.send(
      update({ format: pcm16k, transcription: { language: "is" }, turn_detection: null }),
    );
    const { session } = await stream.waitFor(({ type }) => type === "session.updated");
    assert.equal(session.audio.input.turn_detection, null);
    assert.deepEqual(session.audio.input.format, pcm16k);
    append(stream, bytesOf(joined(samples, silence(1_000), samples)));
    stream.send(commit);
    await completed(stream, 1);
    append(stream, bytesOf(noise(500, 3)));
    stream.send(commit);
    append(stream, bytesOf(samples));
    stream.send(commit);
    await completed(stream, 3);
    stream.terminate();
    const [first = "", ...others] = textsOf(stream);
    assert.deepEqual(first.toLowerCase().replaceAll(/[.,]/g, "").split(" ").length, 8);
    assert.deepEqual(others, ["", text]);
    const kinds = stream.messages.map(({ type }) => type);
    assert.ok(!kinds.some((kind) => kind.includes("speech_st")));
    const committed = stream.messages.filter(({ type }) => type === "input_audio_buffer.committed");
    const ids = committed.map((message) => message.item_id);
    assert.equal(new Set(ids).size, 3);
    assert.deepEqual(
      committed.map((message) => message.previous_item_id),
      [null, ids[0], ids[1]],
    );
    const items = stream.messages.filter(({ type }) => type.endsWith("completed"));
    assert.deepEqual(
      items.map((message) => message.item_id),
      ids,
    );
    const deltas = stream.messages.filter((message) => message.item_id === ids[0] && message.delta);
    assert.equal(deltas.map(({ delta }) => delta).join(""), first);
    assert.equal(new Set(stream.messages.map(({ event_id: id }) => id)).size, kinds.length);
  });

  test("LiveKit: an update without waiting, turns by pauses, and a commit in between", async () => {
    const stream = await openDialectStream(
      dialects.service.address,
      "/v1/realtime?intent=transcription&model=gpt-4o-mini-transcribe",
      { headers: bearer(dialects.service.key) },
    );
    const detection = { type: "server_vad", threshold: 0.5, prefix_padding_ms: 600 };
    stream.send(
      update({
        format: pcm16k,
        transcription: { model: "gpt-4o-mini-transcribe", language: "is", prompt: "" },
        turn_detection: { ...detection, silence_duration_ms: 350 },
        noise_reduction: null,
      }),
    );
    append(stream, bytesOf(joined(samples, silence(1_000), samples)));
    stream.send(commit);
    await completed(stream, 2);
    append(stream, bytesOf(silence(300)));
    stream.send(commit);
    await completed(stream, 3);
    stream.terminate();
    assert.deepEqual(textsOf(stream), [text, text, ""]);
    const started = stream.messages.filter(({ type }) => type.endsWith("speech_started"));
    const stopped = stream.messages.filter(({ type }) => type.endsWith("speech_stopped"));
    assert.deepEqual(
      started.map((message) => message.item_id),
      stopped.map((message) => message.item_id),
    );
    const [first, second] = started.map((message) => message.audio_start_ms);
    assert.ok(Math.abs(second - first - turnMs - 1_000) <= 250, `${first} to ${second}`);
    const usage = stream.messages.findLast(({ type }) => type.endsWith("completed")).usage;
    assert.equal(usage.type, "duration");
  });

  test("understands the messages of the beta, and telephone audio", async () => {
    const stream = await open("/openai/is/v1/realtime?intent=transcription");
    stream.send({
      type: "transcription_session.update",
      session: { input_audio_format: "g711_ulaw", turn_detection: null },
    });
    const { session } = await stream.waitFor(
      ({ type }) => type === "transcription_session.updated",
    );
    assert.equal(session.audio.input.turn_detection, null);
    append(stream, samplesIn("mulaw.wav", joined(samples, silence(1_000), samples)));
    stream.send(commit);
    await completed(stream, 1);
    stream.terminate();
    const [only = "", ...others] = textsOf(stream);
    assert.deepEqual(only.split(" ").length, 8, only);
    assert.deepEqual(others, []);
    assert.ok(!stream.messages.some(({ type }) => type.includes("speech_st")));
  });

  test("discards audio that the client clears", async () => {
    const stream = await open();
    stream.send(update({ format: pcm16k, turn_detection: null }));
    append(stream, bytesOf(samples));
    stream.send({ type: "input_audio_buffer.clear" });
    await stream.waitFor(({ type }) => type === "input_audio_buffer.cleared");
    stream.send(commit);
    const { error } = await stream.waitFor(({ type }) => type === "error");
    assert.equal(error.code, "input_audio_buffer_commit_empty");
    append(stream, bytesOf(samples));
    stream.send(commit);
    await completed(stream, 1);
    stream.terminate();
    assert.deepEqual(textsOf(stream), [text]);
  });

  test("changes its settings between two turns", async () => {
    const stream = await open();
    stream.send(update({ format: pcm16k, turn_detection: null }));
    append(stream, bytesOf(samples));
    stream.send(commit);
    stream.send(update({ format: { type: "audio/pcmu" }, turn_detection: null }));
    append(stream, samplesIn("mulaw.wav", samples));
    stream.send(commit);
    await completed(stream, 2);
    stream.terminate();
    assert.deepEqual(textsOf(stream), [text, text]);
  });

  test("answers what it cannot use with an error that names each problem, and stays open", async () => {
    const stream = await open();
    const rows: [event: object, param: string, message: RegExp][] = [
      [
        update({
          format: { type: "audio/ogg" },
          transcription: { language: "xx", keywords: ["!"] },
        }),
        "session.audio.input.format.type",
        /format\.type: must be audio\/pcm, .*language: is "xx".*keywords\[0\]: has no letter or digit/,
      ],
      [
        update({ format: { type: "audio/pcm", rate: 4 } }),
        "session.audio.input.format.rate",
        /must be 8000 to/,
      ],
      [
        { type: "session.update", session: { type: "realtime" } },
        "session.type",
        /"transcription"/,
      ],
      [
        { type: "response.create", event_id: "a" },
        "type",
        /is "response.create", which a transcription/,
      ],
      [{ type: "input_audio_buffer.append" }, "audio", /is required: base64 of samples/],
    ];
    for (const [at, [event, param, message]] of rows.entries()) {
      stream.send(event);
      await stream.waitFor(() => stream.messages.length >= at + 2);
      const { type, error } = stream.messages.at(-1);
      assert.deepEqual([type, error.type, error.param], ["error", "invalid_request_error", param]);
      assert.match(error.message, message);
      assert.equal(error.event_id, param === "type" ? "a" : null);
    }
    stream.sendRaw("hello");
    await stream.waitFor(() => stream.messages.length >= rows.length + 2);
    stream.send(update({ format: pcm16k }));
    await stream.waitFor(({ type }) => type === "session.updated");
    stream.terminate();
  });

  test("ends at once when its key is revoked", async () => {
    const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", {
      scopes: ["speech"],
    });
    const stream = await open(undefined, { headers: bearer(key.secret) });
    append(stream, bytesOf(silence(500)));
    const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
    assert.equal(revoked.status, 200);
    const { code } = await stream.closed;
    assert.equal(code, 1008);
    assert.equal(stream.messages.at(-1).error.code, "invalid_api_key");
  });
});
