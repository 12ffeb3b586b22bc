import { engineSampleRate } from "../protocol/engine.ts";

/** Loudness is looked at in frames of 20 ms; a cut is where five of them together are quietest. */
const frameSamples = engineSampleRate / 50;
const quietFrames = 5;
/** Of a part, where its end is looked for: more and shorter parts are heard worse. */
const lastShare = 0.3;

/**
 * Cuts an utterance longer than so many samples at its quietest places, into parts of at most that:
 * one after another, nothing left out.
 */
export function utteranceParts(samples: Int16Array, samplesMax: number): readonly Int16Array[] {
  const parts: Int16Array[] = [];
  let rest = samples;
  while (rest.length > samplesMax) {
    const cut = quietestPlace(rest, Math.floor(samplesMax * (1 - lastShare)), samplesMax);
    parts.push(rest.subarray(0, cut));
    rest = rest.subarray(cut);
  }
  return [...parts, rest];
}

function quietestPlace(samples: Int16Array, from: number, to: number): number {
  const powers: number[] = [];
  for (let at = from; at + frameSamples <= to; at += frameSamples) {
    let power = 0;
    for (let index = at; index < at + frameSamples; index++) power += (samples[index] ?? 0) ** 2;
    powers.push(power);
  }
  let [cut, least] = [to, Infinity];
  for (let frame = 0; frame + quietFrames <= powers.length; frame++) {
    const power = powers.slice(frame, frame + quietFrames).reduce((sum, each) => sum + each, 0);
    if (power >= least) continue;
    least = power;
    cut = from + Math.round((frame + quietFrames / 2) * frameSamples);
  }
  return cut;
}
