import { engineSampleRate } from "../protocol/engine.ts";

/**
 * The length of a frame for measuring loudness: 20 ms. A cut is made where five consecutive frames
 * are quietest.
 */
const frameSamples = engineSampleRate / 50;
const quietFrames = 5;
/** The share of a part, at its end, in which the cut may lie. Shorter parts are less accurate. */
const lastShare = 0.3;

/**
 * Cuts an utterance at its quietest places into consecutive parts of at most samplesMax.
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
