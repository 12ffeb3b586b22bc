import { decodeAudio, decodedSampleRate } from "../audio/decode.ts";
import { probeMedia, type ReadMediaOptions } from "../audio/probe-media.ts";
import { WaveformMaker } from "../audio/waveform.ts";
import type { MediaFacts } from "../media/media-facts.ts";

/** Called with the pieces of a waveform in their order; each counts once it resolves. */
export type KeepPeaks = (number: number, peaks: Int8Array) => Promise<void>;

/**
 * Reads a recording once, from its start to its end: its facts, and its waveform on the way. Throws
 * ServiceError when it is no recording that can be decoded.
 *
 * After a worker has died this begins at the start again, and meets the pieces that are kept. To go
 * on in the middle, ffmpeg would have to seek: in most formats it lands near the place (frames that
 * lean on earlier ones, padding, a resampler without its past), and the waveform would depend on
 * when the worker died. Eight hours are decoded in a minute or two.
 */
export async function describeMedia(
  source: ReadMediaOptions,
  keep: KeepPeaks,
): Promise<MediaFacts> {
  const facts = await probeMedia(source);
  let count = 0;
  for await (const samples of keepingPeaks(decodeAudio({ ...source, facts }), keep)) {
    count += samples.length;
  }
  const durationMs = Math.round((count * 1000) / decodedSampleRate);
  return { durationMs, fileType: facts.fileType };
}

/**
 * Passes decoded samples on, and keeps the waveform of what has passed; the rest of it when all of
 * them are taken.
 */
export async function* keepingPeaks(
  chunks: AsyncIterable<Int16Array>,
  keep: KeepPeaks,
): AsyncGenerator<Int16Array, void, undefined> {
  const maker = new WaveformMaker(decodedSampleRate);
  let number = 0;
  for await (const samples of chunks) {
    for (const piece of maker.push(samples)) await keep(number++, piece);
    yield samples;
  }
  const last = maker.end();
  if (last) await keep(number, last);
}
