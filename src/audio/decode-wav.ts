import { open } from "node:fs/promises";
import { wavSampleBytes, type PlainWav, type WavEncoding } from "./plain-wav.ts";
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
  const frameBytes = channels * wavSampleBytes[encoding];
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
    const samples = resampler.push(samplesOf(await read(at, dataEnd), encoding, channels));
    if (samples.length > 0) yield samples;
  }
  signal?.throwIfAborted();
  const last = resampler.end();
  if (last.length > 0) yield last;
  if (onBytes) for (let at = dataEnd; at < sizeBytes; at += readMost) await read(at, sizeBytes);
}

/** Decodes whole frames to 16-bit samples; two channels are averaged. */
function samplesOf(bytes: Buffer, encoding: WavEncoding, channels: 1 | 2): Int16Array {
  const count = bytes.length / wavSampleBytes[encoding];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (encoding === "s16" && channels === 1 && bytes.byteOffset % 2 === 0) {
    // All machines that Hlust runs on are little-endian, as the file is.
    return new Int16Array(bytes.buffer, bytes.byteOffset, count);
  }
  const sample = readers[encoding];
  const samples = new Int16Array(count / channels);
  for (let frame = 0; frame < samples.length; frame++) {
    const at = frame * channels;
    const first = sample(view, at);
    const value = channels === 1 ? first : (first + sample(view, at + 1)) / 2;
    samples[frame] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
  }
  return samples;
}

/** Functions that read the sample at an index, in units of 1/32768 of full scale. */
const readers: Readonly<Record<WavEncoding, (view: DataView, index: number) => number>> = {
  u8: (view, index) => (view.getUint8(index) - 128) * 256,
  s16: (view, index) => view.getInt16(index * 2, true),
  s24: (view, index) => view.getInt16(index * 3 + 1, true),
  s32: (view, index) => view.getInt16(index * 4 + 2, true),
  f32: (view, index) => view.getFloat32(index * 4, true) * 32_768,
};
