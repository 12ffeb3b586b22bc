import { decodeAudio, decodedSampleRate } from "../audio/decode.ts";
import { probeMedia, type ReadMediaOptions } from "../audio/probe-media.ts";
import { WaveformMaker } from "../audio/waveform.ts";
import type { MediaFacts } from "../media/media-facts.ts";

/** Receives the pieces of a waveform in order; a piece counts once the promise resolves. */
export type KeepPeaks = (number: number, peaks: Int8Array) => Promise<void>;

/**
 * Reads a recording once, from start to end, to determine its facts and its waveform. Throws
 * ServiceError if the media is not a recording that can be decoded. After a worker has died, it
 * starts from the beginning, and skips the pieces that are already stored.
 *
 * To resume in the middle, ffmpeg would have to seek, which in most formats is inexact: frames
 * depend on earlier ones, there is padding, and a resampler lacks its history. The waveform would
 * then depend on when the worker died. Decoding eight hours takes a minute or two.
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
 * Passes decoded samples on, and stores the pieces of their waveform as they are completed; the
 * last piece is stored when all samples have been read.
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
