import { Resampler } from "../../src/audio/resample.ts";
import { joined } from "../../test/fixtures/flite.ts";
import { noises } from "./noises.ts";
import { randomSource } from "./random-source.ts";
import { powerOf, speechLevel } from "./talk.ts";

/** What happens to speech on its way to the service. */
export interface Condition {
  readonly name: string;
  /** The group of conditions whose figures are also printed together. */
  readonly group: string;
  readonly apply: (speech: Float64Array) => Int16Array;
}

/** The ratio of the power of speech to that of the noise, in dB. */
const ratiosDb = [20, 10, 5, 0];
/** The noise of a quiet room: 55 dB below speech. */
const roomLevel = 3;
const clipGain = 10;

/** Returns all conditions: each noise at each ratio, levels, and bad lines. */
export function allConditions(): readonly Condition[] {
  const noisy = Object.keys(noises).flatMap((group) =>
    ratiosDb.map((ratioDb) => ({
      name: `${group} ${ratioDb} dB`,
      group,
      apply: (speech: Float64Array) => rounded(mixed(speech, group, ratioDb)),
    })),
  );
  return [
    { name: "quiet room", group: "quiet room", apply: (speech) => rounded(inRoom(speech)) },
    ...noisy,
    { name: "-40 dBFS", group: "low level", apply: (speech) => atLevel(inRoom(speech), -40) },
    { name: "-50 dBFS", group: "low level", apply: (speech) => atLevel(inRoom(speech), -50) },
    {
      name: "clipped",
      group: "bad line",
      apply: (speech) => rounded(mixed(speech, "pink", 30).map((each) => clipGain * each)),
    },
    {
      name: "telephone",
      group: "bad line",
      apply: (speech) => telephone(rounded(mixed(speech, "pink", 25))),
    },
  ];
}

const made = new Map<string, Float64Array>();

/** Returns a noise, which is made once for all talks of this length or less. */
function noiseOf(name: string, length: number): Float64Array {
  const known = made.get(name);
  if (known && known.length >= length) return known.subarray(0, length);
  const noise = noises[name]?.(length);
  if (!noise) throw new Error(`there is no noise ${name}`);
  made.set(name, noise);
  return noise;
}

function mixed(speech: Float64Array, name: string, ratioDb: number): Float64Array {
  const noise = noiseOf(name, speech.length);
  const gain = speechLevel / 10 ** (ratioDb / 20) / Math.sqrt(powerOf(noise));
  return speech.map((sample, at) => sample + gain * (noise[at] ?? 0));
}

/** Returns samples whose speech has this level, in dB below the maximum. */
function atLevel(samples: Float64Array, levelDb: number): Int16Array {
  const gain = (32_768 * 10 ** (levelDb / 20)) / speechLevel;
  return rounded(samples.map((sample) => gain * sample));
}

function inRoom(speech: Float64Array): Float64Array {
  const random = randomSource(9);
  return speech.map((sample) => sample + roomLevel * 3.46 * (random() - 0.5));
}

function rounded(samples: Float64Array): Int16Array {
  return Int16Array.from(samples, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample))),
  );
}

/** Returns what a telephone line makes of it: 300 to 3400 Hz, 8 kHz, with 8 bits of the µ-law. */
function telephone(samples: Int16Array): Int16Array {
  const taps = bandPass(300, 3400);
  const half: number[] = [];
  for (let at = 0; at < samples.length; at += 2) {
    let sum = 0;
    for (const [tap, weight] of taps.entries())
      sum += weight * (samples[at + tap - taps.length / 2] ?? 0);
    half.push(companded(sum));
  }
  const resampler = new Resampler(8000);
  return joined(resampler.push(Int16Array.from(half)), resampler.end()).subarray(0, samples.length);
}

/** Returns a filter for 16 kHz: a windowed difference of two sincs. */
function bandPass(lowHertz: number, highHertz: number): number[] {
  const length = 256;
  const sinc = (hertz: number, at: number) =>
    at === 0 ? hertz / 8000 : Math.sin((Math.PI * at * hertz) / 8000) / (Math.PI * at);
  return Array.from({ length }, (_, index) => {
    const at = index - length / 2;
    const window = 0.5 + 0.5 * Math.cos((2 * Math.PI * at) / length);
    return window * (sinc(highHertz, at) - sinc(lowHertz, at));
  });
}

/** Rounds a sample as the µ-law does, to 128 steps on either side. */
function companded(sample: number): number {
  const mu = 255;
  const share = Math.min(1, Math.abs(sample) / 32_768);
  const step = Math.round((127 * Math.log(1 + mu * share)) / Math.log(1 + mu));
  const expanded = (32_767 * ((1 + mu) ** (step / 127) - 1)) / mu;
  return Math.round(Math.sign(sample) * expanded);
}
