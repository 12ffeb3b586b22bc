// Audio in JSON: the body of a recognize call, and the messages of a live stream.
import type { EventEmitter } from "node:events";
import * as ws from "ws";
import {
  RecognizeRequestSchema,
  StreamingRecognizeRequestSchema,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { PcmStream } from "../../src/audio/pcm-stream.ts";
import { readJson } from "../../src/transcoding/read-json.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import type { Figure } from "../report.ts";

const rounds = 15;

/** The part of ws that reads frames, which is missing from the types of ws. */
type Receiver = EventEmitter & { write(chunk: Buffer, done: () => void): void };
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
const { Receiver } = ws as unknown as { Receiver: new (options: object) => Receiver };

/**
 * Compares the CPU time of reading a body of 30 s at 48 kHz with that of only JSON.parse and
 * Buffer.from. The maximum ratio is 1.5.
 */
export function measureRecognizeBody(): Figure {
  const content = audio(30 * 48_000).toString("base64");
  const config = { encoding: "LINEAR16", sampleRateHertz: 48_000, languageCode: "is-IS" };
  const body = Buffer.from(JSON.stringify({ config, audio: { content } }));
  const ours = () => {
    const { audio } = readJson(RecognizeRequestSchema, body);
    return audio?.audioSource.case === "content" ? audio.audioSource.value.length : 0;
  };
  const bare = () => {
    const parsed: unknown = JSON.parse(body.toString());
    return Buffer.from(contentOf(parsed), "base64").length;
  };
  let [best, bestBare] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round += 1) {
    bestBare = Math.min(bestBare, msOf(bare, 30 * 48_000 * 2));
    best = Math.min(best, msOf(ours, 30 * 48_000 * 2));
  }
  return {
    name: "recognize body, 30 s at 48 kHz",
    ratio: best / bestBare,
    ratioMax: 1.5,
    note: `${best.toFixed(2)} ms, JSON.parse and Buffer.from ${bestBare.toFixed(2)} ms`,
  };
}

/**
 * Measures the CPU time of reading messages of 100 ms, from masked WebSocket frames to samples: at
 * most 20 us each.
 */
export async function measureLiveMessage(sampleRateHertz: number): Promise<Figure> {
  const messages = 2_000;
  const text = JSON.stringify({ audioContent: audio(sampleRateHertz / 10).toString("base64") });
  const frame = maskedFrame(Buffer.from(text));
  let best = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const received = Array.from({ length: messages }, () => Buffer.from(frame));
    best = Math.min(best, (await receive(received, sampleRateHertz / 10)) / messages);
  }
  const microseconds = best * 1000;
  return {
    name: `live message, 100 ms at ${sampleRateHertz / 1000} kHz`,
    ratio: microseconds / 20,
    ratioMax: 1,
    note: `${microseconds.toFixed(1)} us from frame to samples, of 20 us`,
  };
}

/** Returns the CPU time in ms of reading frames up to their samples. */
async function receive(frames: readonly Buffer[], samplesEach: number): Promise<number> {
  const receiver = new Receiver({ isServer: true, maxPayload: 1 << 20, skipUTF8Validation: false });
  let samples = 0;
  const pcm = new PcmStream({ encoding: "s16", sampleRateHertz: 0 });
  receiver.on("message", (data: Buffer) => {
    const { streamingRequest } = readJson(StreamingRecognizeRequestSchema, data);
    if (streamingRequest.case === "audioContent")
      samples += pcm.push(streamingRequest.value).length;
  });
  const start = cpuMs();
  for (const frame of frames) {
    // A socket does the same: it writes the bytes that have arrived, and waits until they are read.
    await new Promise<void>((resolve) => {
      receiver.write(frame, () => {
        resolve();
      });
    });
  }
  const took = cpuMs() - start;
  if (samples !== frames.length * samplesEach) throw new Error(`${samples} samples were read`);
  return took;
}

/** Returns a text frame of a client (RFC 6455, section 5.2). */
function maskedFrame(payload: Buffer): Buffer {
  const mask = [7, 99, 200, 33];
  const head = Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, ...mask]);
  return Buffer.concat([head, payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0))]);
}

/** Returns noise, in which no byte is easier to read than another. */
function audio(samples: number): Buffer {
  const bytes = Buffer.alloc(samples * 2);
  let state = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

function contentOf(parsed: unknown): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what measureRecognizeBody() wrote
  return (parsed as { audio: { content: string } }).audio.content;
}

function msOf(read: () => number, bytes: number): number {
  const start = cpuMs();
  for (let call = 0; call < 4; call += 1) {
    if (read() !== bytes) throw new Error("bytes are missing");
  }
  return (cpuMs() - start) / 4;
}
