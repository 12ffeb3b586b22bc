import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { encode } from "../../test/fixtures/encoded-audio.ts";
import { speak } from "../../test/fixtures/flite.ts";
import { craftFlac } from "../../test/jobs/crafted-media.ts";
import { AudioError } from "../audio/audio-error.ts";
import { chooseSandbox, type Sandbox } from "../audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../engines/pool/engine-pool.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  StreamingRecognizeRequestSchema,
  type StreamingRecognizeRequest,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { ShortDecoder } from "./decode-short.ts";
import { DecoderPlaces } from "./decoder-places.ts";
import { streamingRecognize } from "./streaming-recognize.ts";

let recognizer: EnginePool;
let sandbox: Sandbox;
let wav: Buffer;

before(async () => {
  sandbox = await chooseSandbox("auto", createLog("silent"));
  const log = createLog("silent");
  recognizer = await openEnginePool({ engine: "scripted", processes: 1, log });
  wav = speak("thank you very much for your letter");
});
after(() => recognizer[Symbol.asyncDispose]());

const places = (max = 64) => new DecoderPlaces(max);

/** The messages of a stream of these bytes, which the client ends or leaves open. */
async function* messagesOf(
  encoding: Encoding,
  bytes: Uint8Array,
  isEnded = true,
): AsyncGenerator<StreamingRecognizeRequest> {
  const config = { encoding, languageCode: "is-IS" };
  const streamingConfig = { config, interimResults: true };
  yield create(StreamingRecognizeRequestSchema, {
    streamingRequest: { case: "streamingConfig", value: streamingConfig },
  });
  for (let at = 0; at < bytes.length; at += 20_000) {
    const value = bytes.subarray(at, at + 20_000);
    yield create(StreamingRecognizeRequestSchema, {
      streamingRequest: { case: "audioContent", value },
    });
  }
  if (!isEnded) await new Promise(() => {});
}

interface StreamLimits {
  readonly decoders?: DecoderPlaces;
  readonly streamMsMax?: number;
  /** The audio after which the account has none left. */
  readonly meteredMsMax?: number;
}

/** The results of a stream, and the audio that was counted. */
function open(
  messages: AsyncIterable<StreamingRecognizeRequest>,
  { decoders = places(), streamMsMax = 600_000, meteredMsMax = Infinity }: StreamLimits = {},
) {
  const counted = { ms: 0 };
  const results = streamingRecognize(messages, recognizer, {
    limits: { streamMsMax },
    meterAudio: (ms) => {
      counted.ms += ms;
      return counted.ms > meteredMsMax ? noneLeft : undefined;
    },
    extendHints: (hints) => Promise.resolve(hints),
    decoding: { sandbox, places: decoders },
    describeResults: false,
    call: { signal: new AbortController().signal },
  });
  return { results, counted };
}

const noneLeft = new ServiceError("resource_exhausted", "no audio is left", {
  reason: "NONE_LEFT",
});

/** Reads a stream to its end. Returns its final results, its audio and its error. */
async function run(messages: AsyncIterable<StreamingRecognizeRequest>, limits: StreamLimits = {}) {
  const { results, counted } = open(messages, limits);
  let finals = 0;
  let error: unknown;
  try {
    for await (const message of results) {
      finals += message.results.filter(({ isFinal }) => isFinal).length;
    }
  } catch (thrown) {
    error = thrown;
  }
  return { finals, ms: counted.ms, error };
}

test("a stream beyond the last decoder ends with DECODERS_FULL, and WAV needs none", async () => {
  const flac = encode(wav, "flac");
  const decoders = places(1);
  const first = open(messagesOf(Encoding.FLAC, flac, false), { decoders });
  assert.equal((await first.results.next()).done, false);
  const { error, ms } = await run(messagesOf(Encoding.OGG_OPUS, encode(wav, "opus.ogg")), {
    decoders,
  });
  assert.ok(error instanceof ServiceError, String(error));
  assert.deepEqual(
    [error.code, error.reason, error.retryAfterMs, ms],
    ["resource_exhausted", "DECODERS_FULL", 1_000, 0],
  );
  assert.match(error.message, /decodes 1 compressed streams, which is the maximum/);
  const ofWav = await run(messagesOf(Encoding.GUESS, wav), { decoders });
  assert.deepEqual([ofWav.error, ofWav.finals], [undefined, 1]);
  await first.results.return();
  const third = await run(messagesOf(Encoding.FLAC, flac), { decoders });
  assert.deepEqual([third.error, third.finals], [undefined, 1]);
});

test("ShortDecoder refuses the account with too many waiting recordings, and no other, with DECODERS_BUSY", async () => {
  const decoder = new ShortDecoder(sandbox);
  const flac = encode(wav, "flac");
  const leaving = new AbortController();
  const decode = async (accountId: string, signal: AbortSignal) =>
    await decoder.decode(flac, { encoding: "FLAC", accountId, secondsMax: 30, signal });
  // Two run, and a hundred wait.
  const all = Array.from({ length: 102 }, async () => await decode("a", leaving.signal));
  const ends = Promise.allSettled(all);
  const { signal } = new AbortController();
  await assert.rejects(decode("a", signal), {
    code: "resource_exhausted",
    reason: "DECODERS_BUSY",
    retryAfterMs: 1_000,
    message: /100 such calls of this account are waiting/,
  });
  assert.ok((await decode("b", signal)).length > 16_000);
  leaving.abort(new Error("the client has left"));
  const left = (await ends).filter(({ status }) => status === "rejected");
  assert.ok(left.length >= 50, `${left.length} of 102 calls ended when the client had left`);
  assert.ok((await decode("a", signal)).length > 16_000);
});

test("a gap of 40 s in the times of a stream is silence, and one of 70 s ends the stream", async () => {
  const plain = await run(messagesOf(Encoding.GUESS, encode(wav, "webm")));
  assert.deepEqual([plain.error, plain.finals], [undefined, 1]);
  const short = await run(messagesOf(Encoding.GUESS, encode(wav, "gap-40.webm")));
  assert.deepEqual([short.error, short.finals], [undefined, 2]);
  const gapMs = short.ms - plain.ms;
  assert.ok(Math.abs(gapMs - 40_000) < 150, `${gapMs} ms`);
  const long = await run(messagesOf(Encoding.GUESS, encode(wav, "gap-70.webm")));
  assert.ok(long.error instanceof ServiceError, String(long.error));
  assert.equal(long.error.code, "invalid_argument");
  assert.match(long.error.message, /audioContent: has no sound for (?:69|70)\.\d s/);
  // The audio before the gap has its result, and the gap is not counted.
  assert.equal(long.finals, 1);
  assert.ok(long.ms < plain.ms, `${long.ms} ms`);
});

test("a small file of many hours is decoded only as far as its audio is accepted", async () => {
  const seconds = 4 * 3_600;
  const decoder = new ShortDecoder(sandbox);
  const options = { encoding: "FLAC", accountId: "a", secondsMax: 30 } as const;
  const { signal } = new AbortController();
  for (const declaredSamples of [0, 16_000, seconds * 16_000]) {
    const bomb = craftFlac(seconds, declaredSamples);
    assert.ok(bomb.length < 3_500_000, `${bomb.length} bytes`);
    await assert.rejects(decoder.decode(bomb, { ...options, signal }), (error) => {
      assert.ok(error instanceof AudioError, String(error));
      assert.match(error.message, /must be shorter than 30 s/);
      return true;
    });
    const stream = await run(messagesOf(Encoding.FLAC, bomb, false), { streamMsMax: 60_000 });
    assert.ok(stream.error instanceof ServiceError, String(stream.error));
    assert.equal(stream.error.reason, "STREAM_TOO_LONG");
    assert.ok(stream.ms <= 60_000, `${stream.ms} ms were counted`);
    const limited = await run(messagesOf(Encoding.FLAC, bomb, false), { meteredMsMax: 5_000 });
    assert.equal(limited.error, noneLeft);
    assert.ok(limited.ms < 20_000, `${limited.ms} ms were counted`);
  }
});
