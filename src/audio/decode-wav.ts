import { open } from "node:fs/promises";
import { pcmSampleBytes, samplesOfPcm } from "./pcm-samples.ts";
import type { PlainWav } from "./plain-wav.ts";
import { Resampler, resampledRate } from "./resample.ts";

/**
 * The maximum number of bytes that are read at a time. Processing them blocks the thread for at
 * most a few milliseconds.
 */
const readBytesMax = 65_536;
const resampledFramesMax = 8_192;

/**
 * Decodes a plain WAV file as decodeAudio() does, but in this process: to 16 kHz and one channel,
 * as the samples are pulled. Calls `onBytes` with every byte of the file, in order. Throws if the
 * file has become shorter.
 */
export async function* decodeWav(
  path: string,
  wav: PlainWav,
  options: {
    readonly signal?: AbortSignal | undefined;
    readonly onBytes?: ((bytes: Uint8Array) => void) | undefined;
  },
): AsyncGenerator<Int16Array, void, undefined> {
  const { signal, onBytes } = options;
  const { channels, encoding, sampleRateHertz, dataOffset, frames, sizeBytes } = wav;
  const frameBytes = channels * pcmSampleBytes[encoding];
  const dataEnd = dataOffset + frames * frameBytes;
  const readMost =
    sampleRateHertz === resampledRate
      ? readBytesMax - (readBytesMax % frameBytes)
      : Math.min(readBytesMax, resampledFramesMax * frameBytes);
  const resampler = new Resampler(sampleRateHertz);
  await using file = await open(path);
  const read = async (at: number, end: number): Promise<Buffer> => {
    signal?.throwIfAborted();
    const bytes = Buffer.allocUnsafe(Math.min(readMost, end - at));
    for (let filled = 0; filled < bytes.length;) {
      const rest = bytes.length - filled;
      const { bytesRead } = await file.read(bytes, filled, rest, at + filled);
      if (bytesRead === 0) throw new Error(`the file ends at ${at + filled}, before ${end}`);
      filled += bytesRead;
    }
    onBytes?.(bytes);
    return bytes;
  };
  if (onBytes) for (let at = 0; at < dataOffset; at += readMost) await read(at, dataOffset);
  for (let at = dataOffset; at < dataEnd; at += readMost) {
    const samples = resampler.push(samplesOfPcm(await read(at, dataEnd), encoding, channels));
    if (samples.length > 0) yield samples;
  }
  signal?.throwIfAborted();
  const last = resampler.end();
  if (last.length > 0) yield last;
  if (onBytes) for (let at = dataEnd; at < sizeBytes; at += readMost) await read(at, sizeBytes);
}
