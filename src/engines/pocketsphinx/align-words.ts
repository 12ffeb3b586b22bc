import { alignSpoken } from "../alignment/align-spoken.ts";
import type { Emissions, LatticeModel, SpokenWord, WordArc } from "../alignment/word-lattice.ts";
import { type AlignmentSlices, engineSampleRate } from "../protocol/engine.ts";
import { type AcousticModel, phoneStates } from "./acoustic-model.ts";
import { Cepstra, frameMs } from "./cepstra.ts";
import { utteranceMean } from "./cepstral-mean.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Pronunciations, SpokenPart } from "./pronunciations.ts";

/** The costs with which the most words were found in synthetic speech (bench/RESULTS.md). */
const costs = {
  unexplainedCost: 0.5,
  anySoundCost: 0.35,
  pauseCost: 0.05,
  missingCost: 4,
  tokenCostMax: 3,
} as const;
/**
 * The weight of a frame. The frames of a sound resemble each other, so that their scores together
 * would exaggerate.
 */
const frameWeight = 0.15;
/** The phones of the model that are not speech. */
const quietPhones = ["SIL", "+NSN+", "+SPN+"] as const;
/** The states of the phones of the model, of which those without context are the first. */
const stateCount = 42 * phoneStates;
/** The frames of a slice, in the front end and in the scoring. */
const sliceFrames = 10;
const sliceSamples = 16_000;
/** Sound that is no longer than this is not a word. */
const soundMsMin = 60;

export interface SphinxAlignParts {
  readonly acoustic: AcousticModel;
  readonly pronunciations: Pronunciations;
  readonly newFrontEnd: () => FrontEnd;
}

/** Returns a function that aligns words with PocketSphinx's acoustic model. */
export function wordAligner({ acoustic, pronunciations, newFrontEnd }: SphinxAlignParts) {
  const firstStates = quietPhones.flatMap((phone) => acoustic.firstState(phone) ?? []);
  const model: LatticeModel = {
    ...costs,
    quiet: firstStates.flatMap((first) => statesFrom(first)),
    blank: undefined,
    framesPerSecond: 1000 / frameMs,
  };
  const clock = { timeOf: (frame: number) => frame * frameMs, tailFrames: 1, soundMsMin };
  return function* align(window: Int16Array, words: readonly string[]): AlignmentSlices {
    const spoken = words.map((word) => spokenWord(pronunciations.partsOf(word), acoustic));
    const weights = spoken.map(({ length }) => length / phoneStates);
    const emissions = yield* emissionsOf(window, acoustic, newFrontEnd());
    const windowMs = (1000 * window.length) / engineSampleRate;
    return yield* alignSpoken(windowMs, { spoken, weights }, { emissions, model, clock });
  };
}

function statesFrom(first: number): readonly number[] {
  return Array.from({ length: phoneStates }, (_, index) => first + index);
}

/** Joins the parts of a word. Each part is a choice of pronunciations. */
function spokenWord(parts: readonly SpokenPart[], acoustic: AcousticModel): SpokenWord {
  const arcs: WordArc[] = [];
  let place = 0;
  for (const part of parts) {
    const variants = (part ?? [[]]).map((phones) =>
      phones.flatMap((phone) => statesFrom(acoustic.firstState(phone) ?? 0)),
    );
    let free = place + 1;
    const inner = variants.reduce((sum, states) => sum + Math.max(0, states.length - 1), 0);
    const end = free + inner;
    for (const states of variants) {
      let from = place;
      const tokens = states.length > 0 ? states : [undefined];
      for (const [index, token] of tokens.entries()) {
        const to = index === tokens.length - 1 ? end : free++;
        arcs.push({ from, to, token });
        from = to;
      }
    }
    place = end;
  }
  return { length: place, arcs: arcs.toSorted((a, b) => a.from - b.from) };
}

/** Scores the phones in each frame of a window, relative to the best one. */
function* emissionsOf(
  window: Int16Array,
  acoustic: AcousticModel,
  frontEnd: FrontEnd,
): Generator<void | Promise<void>, Emissions, void> {
  const cepstra = new Cepstra();
  try {
    frontEnd.begin();
    for (let at = 0; at < window.length; at += sliceSamples) {
      frontEnd.accept(window.subarray(at, at + sliceSamples), cepstra);
      yield;
    }
    frontEnd.end(cepstra);
  } finally {
    frontEnd.close();
  }
  const frames = cepstra.count;
  const logs = new Float32Array(frames * stateCount);
  if (frames === 0) return { logs, frames, tokenCount: stateCount };
  const mean = utteranceMean(cepstra);
  const release = yield* acoustic.begin();
  try {
    for (let frame = 0; frame < frames; frame++) {
      const last = frames - 1;
      acoustic.score(cepstra, mean, { logs, stateCount }, { frame, last });
      if (frame % sliceFrames === sliceFrames - 1) yield;
    }
  } finally {
    release();
  }
  for (let frame = 0; frame < frames; frame++)
    weigh(logs.subarray(frame * stateCount, (frame + 1) * stateCount));
  return { logs, frames, tokenCount: stateCount };
}

function weigh(logs: Float32Array): void {
  let best = -Infinity;
  for (const log of logs) if (log > best) best = log;
  for (let state = 0; state < logs.length; state++) {
    logs[state] = frameWeight * ((logs[state] ?? 0) - best);
  }
}
