import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { readWavHeader, WavError } from "../../std/wav.ts";
import { UsageError } from "../command.ts";

/** Audio to send: 16-bit samples of one channel, little-endian. */
export interface SentRecording {
  readonly name: string;
  readonly sampleRateHertz: number;
  readonly samples: Buffer;
}

const bytesPerSample = 2;
/** The range of sample rates (§8). */
const [rateMin, rateMax] = [8_000, 48_000];

/**
 * Reads a WAV file with 16-bit PCM, one channel, 8 to 48 kHz. Throws UsageError with the name of
 * the file.
 */
export async function readRecording(path: string): Promise<SentRecording> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new UsageError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const header = headerOf(path, bytes);
  const { sampleRateHertz, channels, dataOffset, dataBytes } = header;
  const needed = "one channel of 16-bit samples at 8000 to 48000 Hz is required";
  if (channels !== 1) throw new UsageError(`${path} has ${channels} channels: ${needed}`);
  if (sampleRateHertz < rateMin || sampleRateHertz > rateMax) {
    throw new UsageError(`${path} has ${sampleRateHertz} samples a second: ${needed}`);
  }
  if (dataBytes === 0) throw new UsageError(`${path} has no samples`);
  const samples = bytes.subarray(dataOffset, dataOffset + dataBytes);
  return { name: basename(path), sampleRateHertz, samples };
}

function headerOf(path: string, bytes: Buffer) {
  try {
    const header = readWavHeader(bytes);
    if (header) return header;
  } catch (error) {
    if (error instanceof WavError) throw new UsageError(`${path}: ${error.message}`);
    throw error;
  }
  throw new UsageError(`${path} is not a WAV file`);
}

/**
 * The built-in recording: a tone of 3 s followed by 700 ms of digital silence, ten times. No sample
 * of the tone is 0.
 */
const synthetic = { name: "tone and silence", toneMs: 3_000, silenceMs: 700, times: 10 };

export function syntheticRecording(times = synthetic.times): SentRecording {
  const sampleRateHertz = 16_000;
  const perMs = sampleRateHertz / 1000;
  const tone = synthetic.toneMs * perMs;
  const one = Buffer.alloc((tone + synthetic.silenceMs * perMs) * bytesPerSample);
  for (let at = 0; at < tone; at += 1) {
    const value = Math.round(6_000 * Math.sin((2 * Math.PI * 440 * at) / sampleRateHertz));
    one.writeInt16LE(value | 1, at * bytesPerSample);
  }
  const samples = Buffer.concat(Array.from({ length: times }, () => one));
  return { name: synthetic.name, sampleRateHertz, samples };
}

export function secondsOf({ samples, sampleRateHertz }: SentRecording): number {
  return samples.length / bytesPerSample / sampleRateHertz;
}

/** A recording as messages of a live stream (§4.9). */
export interface Chunks {
  readonly sampleRateHertz: number;
  readonly messages: readonly Buffer[];
  /** The end of each message, in samples. */
  readonly ends: readonly number[];
}

/** Cuts a recording into chunks. The last chunk may be shorter. */
export function chunksOf({ samples, sampleRateHertz }: SentRecording, chunkMs: number): Chunks {
  const size = Math.max(1, Math.round((sampleRateHertz * chunkMs) / 1000)) * bytesPerSample;
  const messages: Buffer[] = [];
  const ends: number[] = [];
  for (let at = 0; at < samples.length; at += size) {
    const chunk = samples.subarray(at, at + size);
    messages.push(Buffer.from(JSON.stringify({ audioContent: chunk.toString("base64") })));
    ends.push((at + chunk.length) / bytesPerSample);
  }
  return { sampleRateHertz, messages, ends };
}
