import { decodeG711 } from "./g711.ts";

/** The number of bytes per sample of each encoding of PCM. */
export const pcmSampleBytes = { u8: 1, s16: 2, s24: 3, s32: 4, f32: 4, mulaw: 1, alaw: 1 } as const;

export type PcmEncoding = keyof typeof pcmSampleBytes;

/**
 * Decodes whole frames to 16-bit samples of one channel; two channels are averaged. The result may
 * be a view of the bytes.
 */
export function samplesOfPcm(bytes: Buffer, encoding: PcmEncoding, channels: 1 | 2): Int16Array {
  const count = bytes.length / pcmSampleBytes[encoding];
  if (encoding === "s16" && channels === 1 && bytes.byteOffset % 2 === 0) {
    // All machines that Hlust runs on are little-endian, as the audio is.
    return new Int16Array(bytes.buffer, bytes.byteOffset, count);
  }
  if (encoding === "mulaw" || encoding === "alaw") {
    const samples = decodeG711(bytes, encoding);
    return channels === 1 ? samples : averaged((at) => samples[at] ?? 0, count, channels);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const sample = readers[encoding];
  return averaged((at) => sample(view, at), count, channels);
}

function averaged(sample: (at: number) => number, count: number, channels: 1 | 2): Int16Array {
  const samples = new Int16Array(count / channels);
  for (let frame = 0; frame < samples.length; frame++) {
    const at = frame * channels;
    const first = sample(at);
    const value = channels === 1 ? first : (first + sample(at + 1)) / 2;
    samples[frame] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
  }
  return samples;
}

/** Functions that read the sample at an index, in units of 1/32768 of full scale. */
const readers: Readonly<
  Record<Exclude<PcmEncoding, "mulaw" | "alaw">, (view: DataView, index: number) => number>
> = {
  u8: (view, index) => (view.getUint8(index) - 128) * 256,
  s16: (view, index) => view.getInt16(index * 2, true),
  s24: (view, index) => view.getInt16(index * 3 + 1, true),
  s32: (view, index) => view.getInt16(index * 4 + 2, true),
  f32: (view, index) => view.getFloat32(index * 4, true) * 32_768,
};
