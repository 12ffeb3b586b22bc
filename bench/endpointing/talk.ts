import { espeak, flite, joined, type Voice } from "../../test/fixtures/flite.ts";
import { icelandicSentences } from "../icelandic-sentences.ts";
import { readRecordings } from "../recordings.ts";
import { sentences } from "../sentences.ts";
import { randomSource } from "./random-source.ts";

/** Samples per 10 ms at 16 kHz: the unit of time of the benchmark. */
export const frameSamples = 160;
/** What is true for a frame. Neither: a pause within an utterance, or close to its edges. */
export const truth = { silence: 0, speech: 1, neither: 2 } as const;

/** Utterances with silence between them. */
export interface Talk {
  readonly name: string;
  readonly languageCode: string;
  readonly samples: Float64Array;
  readonly spans: readonly Span[];
  /** The truth of each frame. */
  readonly frames: Uint8Array;
}

/** An utterance, from its first audible frame to its last. */
export interface Span {
  readonly text: string;
  readonly startFrame: number;
  readonly endFrame: number;
}

interface Spoken {
  readonly text: string;
  readonly samples: Int16Array;
}

/** The root mean square of the frames with speech: 26 dB below the maximum. */
export const speechLevel = 1642;
/** The silence before, between and after the utterances. */
const silenceMs = { first: 3000, least: 1000, most: 2500, last: 2000 } as const;
/** Frames this far below the loud frames of an utterance are not audible. */
const audibleDb = 30;
/** Within an utterance, audible frames this near make a frame speech. */
const nearFrames = 5;
/** Frames this close to an utterance are neither speech nor silence. */
const edgeFrames = { before: 10, after: 30 } as const;

/** Returns English and Icelandic talks of synthetic voices, and one of the recordings, if any. */
export function talksOf(recordingsFolder: string, isQuick: boolean): Talk[] {
  const count = isQuick ? 4 : 12;
  const voices: readonly Voice[] = ["slt", "rms", "awb"];
  const english = sentences.slice(0, count).map((text, at) => ({
    text,
    samples:
      at % 4 === 3
        ? espeak(text, { voice: "en-us" })
        : flite(text, { voice: voices[at % 4] ?? "slt" }),
  }));
  const icelandicVoices = ["is", "is+f2", "is+m3"];
  const icelandic = icelandicSentences.slice(0, count).map((text, at) => ({
    text,
    samples: espeak(text, { voice: icelandicVoices[at % 3] ?? "is" }),
  }));
  const recordings = readRecordings(recordingsFolder).slice(0, isQuick ? 4 : undefined);
  return [
    talkOf("English", "en-US", english),
    talkOf("Icelandic", "is-IS", icelandic),
    ...(recordings.length > 0 ? [talkOf("recordings", "en-US", recordings)] : []),
  ];
}

function talkOf(name: string, languageCode: string, spoken: readonly Spoken[]): Talk {
  const random = randomSource(5);
  const framesOfMs = (ms: number) => Math.round(ms / 10);
  const utterances = spoken.map(({ text, samples }) => ({ text, ...trimmed(samples) }));
  const starts: number[] = [];
  let at = framesOfMs(silenceMs.first);
  for (const { audible } of utterances) {
    starts.push(at);
    const gapMs = silenceMs.least + random() * (silenceMs.most - silenceMs.least);
    at += audible.length + framesOfMs(gapMs);
  }
  const frameCount = at + framesOfMs(silenceMs.last);
  const samples = new Float64Array(frameCount * frameSamples);
  const frames = new Uint8Array(frameCount);
  for (const [index, { samples: voice, audible }] of utterances.entries()) {
    const start = starts[index] ?? 0;
    samples.set(voice, start * frameSamples);
    frames.fill(
      truth.neither,
      start - edgeFrames.before,
      start + audible.length + edgeFrames.after,
    );
    for (const [frame] of audible.entries()) {
      const near = audible.slice(Math.max(0, frame - nearFrames), frame + nearFrames + 1);
      if (near.some(Boolean)) frames[start + frame] = truth.speech;
    }
  }
  const spans = utterances.map(({ text, audible }, index) => {
    const startFrame = starts[index] ?? 0;
    return { text, startFrame, endFrame: startFrame + audible.length };
  });
  return { name, languageCode, samples, spans, frames };
}

/** Returns speech at the level of all utterances, from its first audible frame to its last. */
function trimmed(samples: Int16Array): { samples: Float64Array; audible: readonly boolean[] } {
  const count = Math.floor(samples.length / frameSamples);
  const powers = Array.from({ length: count }, (_, frame) =>
    powerOf(samples.subarray(frame * frameSamples, (frame + 1) * frameSamples)),
  );
  const loud = powers.toSorted((a, b) => b - a)[Math.floor(count / 20)] ?? 0;
  const audible = powers.map((power) => power > loud / 10 ** (audibleDb / 10));
  const [first, end] = [audible.indexOf(true), audible.lastIndexOf(true) + 1];
  const spoken = powers.filter((_, frame) => audible[frame]);
  const gain =
    speechLevel / Math.sqrt(spoken.reduce((sum, power) => sum + power, 0) / spoken.length);
  const cut = samples.subarray(first * frameSamples, end * frameSamples);
  return {
    samples: Float64Array.from(cut, (sample) => gain * sample),
    audible: audible.slice(first, end),
  };
}

/** Returns the mean of the squares of these samples. */
export function powerOf(samples: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < samples.length; at++) sum += (samples[at] ?? 0) ** 2;
  return sum / Math.max(1, samples.length);
}

/** Returns voices that say other sentences than the talks, one after the other. */
export function chatter(voice: string, from: number): Int16Array {
  const lines = [0, 1, 2, 3].map((at) => {
    const text = sentences[12 + ((from + 5 * at) % (sentences.length - 12))] ?? "";
    const other = icelandicSentences[12 + ((from * 3 + 7 * at) % 80)] ?? "";
    return voice.startsWith("is")
      ? espeak(other, { voice })
      : voice.startsWith("en")
        ? espeak(text, { voice })
        : flite(text, { voice: voice === "rms" ? "rms" : voice === "awb" ? "awb" : "slt" });
  });
  return joined(...lines);
}
