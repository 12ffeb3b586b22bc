// A long recording of sentences in all voices and of other recordings, separated by the pauses of a
// quiet room, with the times at which the speech of each part ends.
import { flite, joined, noise, type Voice } from "../../test/fixtures/flite.ts";
import { readRecordings } from "../recordings.ts";
import { sentences } from "../sentences.ts";

export const sampleRate = 16_000;
const voices: readonly Voice[] = ["slt", "rms", "awb"];
/** A pause slightly longer than the default silence that ends an utterance. */
const pauseMs = 700;
const roomAmplitude = 4;
/** Speech ends with the last 10 ms that are at most this much quieter than the loudest 10 ms. */
const endDb = 40;
const frameSamples = sampleRate / 100;

export interface Talk {
  readonly samples: Int16Array;
  /** The time at which the speech of each sentence ends, in milliseconds. */
  readonly endsMs: readonly number[];
}

/**
 * Joins every third sentence in each voice and the recordings of the folder. The talk begins with
 * part `first`; the parts before `first` come at the end.
 */
export function makeTalk(folder: string, first = 0): Talk {
  const said = sentences.filter((_, index) => index % 3 === 0);
  const spoken = voices.flatMap((voice) => said.map((text) => flite(text, { voice })));
  const all = [...spoken, ...readRecordings(folder).map(({ samples }) => samples)];
  const turned = [...all.slice(first), ...all.slice(0, first)];
  const endsMs: number[] = [];
  let at = 0;
  const parts = turned.flatMap((samples) => {
    const room = noise(pauseMs, roomAmplitude);
    endsMs.push((1000 * (at + room.length + speechEnd(samples))) / sampleRate);
    at += room.length + samples.length;
    return [room, samples];
  });
  return { samples: joined(...parts, noise(2000, roomAmplitude)), endsMs };
}

function speechEnd(samples: Int16Array): number {
  const powers = Array.from({ length: Math.floor(samples.length / frameSamples) }, (_, index) => {
    const frame = samples.subarray(index * frameSamples, (index + 1) * frameSamples);
    return frame.reduce((sum, sample) => sum + sample * sample, 0);
  });
  const least = Math.max(...powers) / 10 ** (endDb / 10);
  return (powers.findLastIndex((power) => power >= least) + 1) * frameSamples;
}
