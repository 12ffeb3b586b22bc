// §2.4: the encodings of the original's contract, in recognize and streams.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  Speech,
  type StreamingRecognizeRequestSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { amrOf, encode, type EncodedFormat } from "../fixtures/encoded-audio.ts";
import { espeak, joined, noise, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until } from "../fixtures/until.ts";
import { wavHeader } from "../../src/std/wav.ts";
import { openTestService, pcmOf, type TestService } from "./service.ts";
import { finalsOf, openStream, streamingConfig } from "./stream.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

// The Icelandic model needs a fiftieth of the CPU time of the English one.
const languageCode = "is-IS";
const first = "við hittumst á kaffihúsinu eftir vinnu";
const second = "hún býr í litlu húsi við sjóinn";
let service: TestService;
/** Two utterances with a pause, in a quiet room. */
let wav: Buffer;
/** The first of them. */
const one = wavOf(espeak(first));

before(async () => {
  service = await openTestService();
  const pause = noise(1200, 4);
  wav = wavOf(joined(pause, espeak(first), pause, espeak(second), pause));
});
after(() => service[Symbol.asyncDispose]());

interface Config {
  /** Absent if the header of the audio decides. */
  readonly encoding?: string | number;
  readonly sampleRateHertz?: number;
}

async function recognize(config: Config, bytes: Uint8Array) {
  const content = Buffer.from(bytes).toString("base64");
  const body = { config: { languageCode, ...config }, audio: { content } };
  return await service.call("POST", "/v2beta1/speech:recognize", body);
}

async function textsOf(config: Config, bytes: Uint8Array): Promise<string[]> {
  const { status, json } = await recognize(config, bytes);
  assert.equal(status, 200, JSON.stringify(json));
  return json.results.map(
    ({ alternatives: [best] }: { alternatives: { transcript: string }[] }) => best?.transcript,
  );
}

/** Streams bytes in chunks of this length. Returns the texts, the close code and the error. */
async function stream(config: Config, bytes: Buffer, chunkBytes: number) {
  const opened = await openStream(service.address, { token: service.key });
  const { encoding = 0, sampleRateHertz = 0 } = config;
  const audio = { encoding, sampleRateHertz, languageCode };
  opened.send(streamingConfig(audio, { interimResults: false }));
  opened.sendAudio(bytes, chunkBytes);
  opened.send({ audioContent: "" });
  const code = await opened.closed;
  const error = opened.messages.at(-1)?.error;
  return {
    code,
    error,
    texts: finalsOf(opened.messages).map(({ transcript }) => transcript.trim()),
  };
}

const rows: readonly [encoding: Config, format: EncodedFormat][] = [
  [{ encoding: "FLAC" }, "flac"],
  [{ encoding: "OGG_OPUS", sampleRateHertz: 16_000 }, "opus.ogg"],
  [{ encoding: "MP3", sampleRateHertz: 44_100 }, "mp3"],
  [{ encoding: 9 }, "webm"],
  [{ encoding: "GUESS" }, "vorbis.ogg"],
  [{ encoding: "GUESS" }, "aac"],
  [{ encoding: "GUESS" }, "fragmented.mp4"],
  [{ encoding: "GUESS" }, "stereo.wav"],
  [{ encoding: "GUESS" }, "mulaw.wav"],
  [{}, "flac"],
  [{ encoding: "ENCODING_UNSPECIFIED" }, "stereo.wav"],
  [{ encoding: 0, sampleRateHertz: 8000 }, "mulaw.wav"],
  [{ encoding: "MULAW", sampleRateHertz: 8000 }, "mulaw.wav"],
  [{ encoding: "ALAW", sampleRateHertz: 8000 }, "alaw.wav"],
];

test(
  "every encoding is recognized, and a stream of it has the same results however it is split",
  { timeout: 600_000 * cpuSlowness },
  async () => {
    const linear16 = { encoding: "LINEAR16", sampleRateHertz: 16_000 };
    const expected = await textsOf(linear16, pcmOf(wav));
    const { texts: expectedLive } = await stream(linear16, pcmOf(wav), 1600);
    assert.deepEqual([expected.length, expectedLive.length], [2, 2]);
    for (const [config, format] of rows) {
      const row = `${JSON.stringify(config)} ${format}`;
      const bytes = encode(format === "flac" ? wav : one, format);
      const whole = await textsOf(config, bytes);
      const isLossless = format === "flac";
      if (isLossless) assert.deepEqual(whole, expected, row);
      // Audio at 8 kHz is recognized less well.
      const spoken = format.endsWith("law.wav") ? /kaffi/ : new RegExp(`^${first}$`);
      assert.match(whole[0] ?? "", spoken, row);
      const { code, texts, error } = await stream(config, bytes, 300 + (bytes.length % 997));
      assert.equal(error, undefined, row);
      assert.equal(code, 1000, row);
      assert.match(texts[0] ?? "", spoken, row);
      if (isLossless) assert.deepEqual(texts, expectedLive, row);
    }
  },
);

test("the header of a WAV file is skipped in streams of bare samples", async () => {
  const config = { encoding: "LINEAR16", sampleRateHertz: 16_000 };
  const { texts: expected } = await stream(config, pcmOf(wav), 1600);
  assert.equal(expected.length, 2);
  for (const chunkBytes of [45, 1600]) {
    const { texts, code, error } = await stream(config, wav, chunkBytes);
    assert.equal(error, undefined);
    assert.deepEqual([texts, code], [expected, 1000]);
  }
});

test("MP4 with its index at the end is recognized, and refused as a stream", async () => {
  const bytes = encode(wav, "mp4");
  assert.equal((await textsOf({ encoding: "GUESS" }, bytes))[0], first);
  const { code, error } = await stream({ encoding: "GUESS" }, bytes, 1000);
  assert.equal(code, 1007);
  assert.match(
    error?.message ?? "",
    /audioContent: is MP4 whose index \(moov\) follows its samples/,
  );
});

test("audio that is not of its encoding ends with a reason, in recognize and streams", async () => {
  const text = Buffer.from("<!doctype html><html><body>".padEnd(500));
  const none = Buffer.from(noise(2000, 3000).buffer);
  const damaged = encode(wav, "flac").fill(0x55, 100);
  const raw = (encoding: string) => ({ encoding, sampleRateHertz: 16_000 });
  const wrong: [config: Config, bytes: Buffer, message: RegExp][] = [
    [{ encoding: "FLAC" }, encode(wav, "opus.ogg"), /looks like audio\/ogg, not FLAC: GUESS/],
    [{ encoding: "FLAC" }, none, /looks like no known format of audio, not FLAC/],
    [{ encoding: "OGG_OPUS" }, encode(wav, "vorbis.ogg"), /Ogg without Opus, not OGG_OPUS/],
    [{ encoding: "OGG_OPUS" }, encode(wav, "webm"), /looks like audio\/webm, not OGG_OPUS/],
    [{ encoding: "MP3" }, wav, /looks like audio\/wav, not MP3/],
    [{ encoding: "MP3" }, none.subarray(0, 1), /looks like no known format of audio, not MP3/],
    [{ encoding: "GUESS" }, text, /looks like a web page \(HTML\), not WAV, FLAC/],
    [{ encoding: "GUESS" }, none, /looks like no known format of audio, not WAV, FLAC/],
    [{ encoding: "GUESS" }, Buffer.from("#!AMR-WB+\n".padEnd(5000)), /no known format/],
    [{ encoding: "FLAC" }, damaged, /damaged|cannot be decoded/],
    [
      { encoding: "GUESS" },
      Buffer.from(wavHeader({ sampleRateHertz: 96_000, dataBytes: 99 })),
      /WAV header that ends|cut short/,
    ],
    [raw("LINEAR16"), encode(wav, "opus.ogg"), /looks like audio\/ogg/],
    [raw("MULAW"), encode(wav, "flac"), /looks like audio\/flac/],
    [raw("ALAW"), encode(wav, "fragmented.mp4"), /looks like video\/mp4/],
    [raw("ALAW"), encode(wav, "alaw.wav"), /sampleRateHertz: is 16000, but the WAV header .* 8000/],
    [raw("LINEAR16"), encode(wav, "mulaw.wav"), /must be a WAV file with LINEAR16, not MULAW/],
    [{ encoding: "MULAW" }, none, /sampleRateHertz: is required: 8000 to 48000/],
    [{ encoding: "FLAC", sampleRateHertz: 4000 }, none, /sampleRateHertz: must be 8000 to 48000/],
    [{}, none, /looks like no known format of audio, not WAV or FLAC, the only audio/],
    [{ encoding: 0 }, encode(wav, "opus.ogg"), /looks like audio\/ogg, not WAV or FLAC, the only/],
    [{}, encode(wav, "mp3"), /looks like audio\/mpeg, not WAV or FLAC, .* encoding may be absent/],
    [{ sampleRateHertz: 4000 }, wav, /sampleRateHertz: must be 8000 to 48000, not 4000/],
    [{ encoding: 4 }, none, /encoding: must be LINEAR16, .*, not AMR \(4\)/],
    [{ encoding: 42 }, none, /encoding: must be LINEAR16, .*, not 42/],
  ];
  for (const [config, bytes, message] of wrong) {
    const row = `${JSON.stringify(config)} ${message}`;
    const { status, json } = await recognize(config, bytes);
    assert.equal(status, 400, row);
    assert.match(json.message, message, row);
    const { error, code, texts } = await stream(config, bytes, 500);
    assert.deepEqual([error?.code, code, texts], [3, 1007, []], row);
    assert.match(error?.message ?? "", message, row);
  }
});

test("compressed audio of 30 s is refused by recognize, measured after decoding", async () => {
  const samples = Buffer.from(silence(30_000).buffer);
  const header = wavHeader({ sampleRateHertz: 16_000, dataBytes: samples.length });
  const long = encode(Buffer.concat([header, samples]), "flac");
  const { status, json } = await recognize({ encoding: "FLAC" }, long);
  assert.equal(status, 400);
  assert.match(json.message, /audio\.content: must be shorter than 30 s/);
});

test("a stream that is damaged in the middle has its results before the reason", async () => {
  const flac = encode(wav, "flac");
  const cut = Math.floor(flac.length * 0.6);
  const damaged = Buffer.concat([flac.subarray(0, cut), Buffer.alloc(2 << 20, 0x55)]);
  const { texts, error, code } = await stream({ encoding: "FLAC" }, damaged, 20_000);
  assert.equal(texts[0], first);
  assert.match(error?.message ?? "", /is damaged/);
  assert.equal(code, 1007);
});

/** Streams bytes over gRPC. Returns the texts, and the code and message of the error, if any. */
async function streamOverGrpc(config: { readonly encoding: Encoding }, bytes: Buffer) {
  const client = createClient(Speech, createGrpcTransport({ baseUrl: service.address }));
  const headers = { authorization: `Bearer ${service.key}` };
  async function* requests(): AsyncGenerator<
    MessageInitShape<typeof StreamingRecognizeRequestSchema>
  > {
    const value = { config: { languageCode, ...config } };
    yield { streamingRequest: { case: "streamingConfig", value } };
    for (let at = 0; at < bytes.length; at += 500) {
      const audio = new Uint8Array(bytes.subarray(at, at + 500));
      yield { streamingRequest: { case: "audioContent", value: audio } };
    }
  }
  const texts: string[] = [];
  try {
    for await (const { results } of client.streamingRecognize(requests(), { headers })) {
      for (const { isFinal, alternatives } of results) {
        if (isFinal) texts.push(alternatives[0]?.transcript.trim() ?? "");
      }
    }
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    return { texts, code, message: rawMessage };
  }
  return { texts, code: undefined, message: "" };
}

const damagedFormats: readonly [format: EncodedFormat, encoding: Encoding][] = [
  ["flac", Encoding.FLAC],
  ["opus.ogg", Encoding.OGG_OPUS],
  ["mp3", Encoding.MP3],
  ["webm", Encoding.GUESS],
  ["fragmented.mp4", Encoding.GUESS],
  ["faststart.mp4", Encoding.GUESS],
  ["aac", Encoding.GUESS],
];

test(
  "audio that is truncated, damaged or only a header ends with a reason, over every protocol",
  { timeout: 600_000 * cpuSlowness },
  async () => {
    for (const [format, encoding] of damagedFormats) {
      const bytes = encode(wav, format);
      const middle = Math.floor(bytes.length * 0.6);
      const damages: [damage: string, bytes: Buffer, hasFirst: boolean][] = [
        ["truncated", bytes.subarray(0, middle + 5), true],
        ["damaged in the middle", Buffer.from(bytes).fill(0x55, middle, middle + 4000), true],
        ["damaged from the middle on", Buffer.from(bytes).fill(0x55, middle), true],
        ["a header without audio", headerOf(format, bytes), false],
      ];
      for (const [damage, changed, hasFirst] of damages) {
        const row = `${format} ${damage}`;
        const reason = /is damaged|is cut short|cannot be decoded|no known format/;
        const { status, json } = await recognize({ encoding }, changed);
        assert.deepEqual(
          [status, reason.test(json.message)],
          [400, true],
          `${row} ${json.message}`,
        );
        const socket = await stream({ encoding }, changed, 500);
        assert.deepEqual([socket.code, socket.error?.code], [1007, 3], row);
        assert.match(socket.error?.message ?? "", reason, row);
        const rpc = await streamOverGrpc({ encoding }, changed);
        assert.equal(rpc.code, Code.InvalidArgument, row);
        assert.match(rpc.message, reason, row);
        for (const { texts } of [socket, rpc]) assert.equal(texts[0] === first, hasFirst, row);
      }
    }
  },
);

/** Returns the start of a file, up to its first sound. */
function headerOf(format: EncodedFormat, bytes: Buffer): Buffer {
  const marks = { webm: "1f43b675", "fragmented.mp4": "6d6f6f66", "faststart.mp4": "6d646174" };
  const mark = Object.entries(marks).find(([name]) => name === format)?.[1];
  if (mark) return bytes.subarray(0, bytes.indexOf(Buffer.from(mark, "hex")) + 4);
  // The two pages of headers of Ogg; the stream information of FLAC; half a frame of the others.
  if (format === "opus.ogg") return bytes.subarray(0, bytes.indexOf("OggS", 60) + 40);
  return bytes.subarray(0, format === "flac" ? 60 : 100);
}

test("AMR is decoded as a stream by GUESS, and ends with a reason if it is cut short", async () => {
  for (const band of ["narrow", "wide"] as const) {
    const amr = amrOf(band, 50);
    const whole = await stream({ encoding: "GUESS" }, amr, 300);
    assert.deepEqual([whole.code, whole.error], [1000, undefined], band);
    const cut = await stream({ encoding: "GUESS" }, amr.subarray(0, -5), 300);
    assert.deepEqual([cut.code, cut.error?.code], [1007, 3], band);
    assert.match(cut.error?.message ?? "", /is cut short/);
  }
});

test("no decoder remains after a stream has ended or its caller has disconnected", async () => {
  const bytes = encode(wav, "opus.ogg");
  const opened = await openStream(service.address, { token: service.key });
  opened.send(streamingConfig({ encoding: "OGG_OPUS", languageCode }));
  opened.sendAudio(bytes, 500);
  await opened.waitFor(({ result }) => result !== undefined);
  assert.ok(decoders() > 0, "a decoder runs");
  opened.terminate();
  await until(() => Promise.resolve(decoders() === 0));
  const single = await openStream(service.address, { token: service.key });
  single.send(streamingConfig({ encoding: "OGG_OPUS", languageCode }, { singleUtterance: true }));
  single.sendAudio(bytes, 500);
  assert.equal(await single.closed, 1000);
  await until(() => Promise.resolve(decoders() === 0));
});

/** Returns the number of ffmpeg processes that descend from this process. */
function decoders(): number {
  const parents = new Map<string, string>();
  const names = new Map<string, string>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const close = stat.lastIndexOf(")");
      names.set(pid, stat.slice(stat.indexOf("(") + 1, close));
      parents.set(pid, stat.slice(close + 2).split(" ")[1] ?? "");
    } catch {
      // The process has ended.
    }
  }
  const isOurs = (pid: string | undefined): boolean =>
    pid !== undefined && (pid === String(process.pid) || isOurs(parents.get(pid)));
  return [...names].filter(([pid, name]) => name === "ffmpeg" && isOurs(pid)).length;
}

test("a marker in a compressed stream ends the utterance without more audio", async () => {
  const opened = await openStream(service.address, { token: service.key });
  const options = { endpointing: { minSilence: "5s" }, interimResults: false };
  opened.send(streamingConfig({ encoding: "OGG_OPUS", languageCode }, options));
  opened.sendAudio(encode(one, "opus.ogg"), 500);
  opened.send({ finalizeUtterance: true });
  const { result } = await opened.waitFor(({ result }) => result !== undefined);
  assert.equal(result?.results?.[0]?.isFinal, true);
  opened.send({ audioContent: "" });
  assert.equal(await opened.closed, 1000);
});
