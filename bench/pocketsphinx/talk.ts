// One long recording with what is known about it: sentences of all voices and recordings, with
// pauses of a quiet room.
import { flite, joined, noise, type Voice } from "../../test/fixtures/flite.ts";
import { readRecordings } from "../recordings.ts";
import { sentences } from "../sentences.ts";

export const sampleRate = 16_000;
const voices: readonly Voice[] = ["slt", "rms", "awb"];
/** A pause that ends an utterance by default, and a little more. */
const pauseMs = 700;
const roomAmplitude = 4;
/** The end of speech: the last 10 ms that are not so much quieter than the loudest. */
const endDb = 40;
const frameSamples = sampleRate / 100;

export interface Talk {
  readonly samples: Int16Array;
  /** Where each sentence's speech ends, in milliseconds. */
  readonly endsMs: readonly number[];
}

/**
 * Every third sentence of each voice, then the recordings of the folder; `first` turns it around.
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
