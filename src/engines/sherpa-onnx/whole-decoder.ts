import { joinSamples } from "../../audio/join-samples.ts";
import {
  type Decoder,
  engineSampleRate,
  type Hypothesis,
  type RecognitionMode,
} from "../protocol/engine.ts";
import type { LibraryResult } from "./library-result.ts";
import type { OfflineRuns, Run } from "./offline-runs.ts";
import { joinedReadings, readingOf } from "./reading.ts";
import type { SherpaConfig } from "./sherpa-library.ts";
import { utteranceParts } from "./utterance-parts.ts";

/** The minimum amount of new audio after which a live utterance is decoded again. */
const partialMsMin = 500;
/**
 * The same minimum as a multiple of the duration of a run, so that partial readings take at most a
 * third of the time.
 */
const restPerCost = 3;
/**
 * The number of measurements of the duration of a run. Their minimum is used, since the others
 * include waiting for a core.
 */
const costsKept = 5;

/**
 * Decodes an utterance once it has ended, with a model for whole utterances. In live mode, it also
 * decodes the utterance so far from time to time, for partial readings.
 */
export class WholeDecoder implements Decoder {
  readonly #runs: OfflineRuns;
  readonly #mode: RecognitionMode;
  readonly #samplesMax: number;
  readonly #config: SherpaConfig | undefined;
  #chunks: Int16Array[] = [];
  #samples = 0;
  #isSilent = true;
  /** The run under way, and a promise that resolves when it ends. */
  #run: { readonly run: Run; readonly over: Promise<void> } | undefined;
  #partial: Hypothesis | undefined;
  #partialSamples = 0;
  readonly #costsMs: number[] = [];

  constructor(
    runs: OfflineRuns,
    options: {
      readonly mode: RecognitionMode;
      readonly secondsMax: number;
      /** The config of the decoder's runs, if they need their own. */
      readonly config?: SherpaConfig | undefined;
    },
  ) {
    this.#runs = runs;
    this.#mode = options.mode;
    this.#samplesMax = options.secondsMax * engineSampleRate;
    this.#config = options.config;
  }

  begin(): void {
    this.#drop();
  }

  accept(samples: Int16Array): void {
    if (samples.length === 0) return;
    this.#chunks.push(samples.slice());
    this.#samples += samples.length;
    this.#isSilent &&= samples.every((sample) => sample === 0);
  }

  pause(): void {}

  work(): false | Promise<void> {
    if (!this.#run && this.#isPartialDue()) this.#beginPartial();
    return this.#run?.over ?? false;
  }

  partial(): Hypothesis | undefined {
    return this.#partial;
  }

  *end(): Generator<Promise<void>, readonly Hypothesis[], void> {
    try {
      while (this.#run) yield this.#run.over;
      if (this.#isSilent) return [];
      const readings: (readonly [Hypothesis, number])[] = [];
      let samples = 0;
      for (const part of utteranceParts(this.#spoken(), this.#samplesMax)) {
        const reading = yield* this.#decode(part);
        if (reading) readings.push([reading, Math.floor((samples * 1000) / engineSampleRate)]);
        samples += part.length;
      }
      const reading = joinedReadings(readings);
      return reading ? [reading] : [];
    } finally {
      this.#drop();
    }
  }

  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#drop();
  }

  #isPartialDue(): boolean {
    if (this.#mode !== "live" || this.#isSilent || this.#samples > this.#samplesMax) return false;
    const costMs = this.#costsMs.length > 0 ? Math.min(...this.#costsMs) : 0;
    const restMs = Math.max(partialMsMin, restPerCost * costMs);
    const newMs = ((this.#samples - this.#partialSamples) * 1000) / engineSampleRate;
    return newMs >= restMs && this.#runs.hasRoom;
  }

  #beginPartial(): void {
    const startMs = performance.now();
    const spoken = this.#spoken();
    this.#partialSamples = spoken.length;
    this.#start(spoken, (result) => {
      this.#costsMs.push(performance.now() - startMs);
      if (this.#costsMs.length > costsKept) this.#costsMs.shift();
      this.#partial = readingOf(result, lengthMs(spoken)) ?? this.#partial;
    });
  }

  *#decode(part: Int16Array): Generator<Promise<void>, Hypothesis | undefined, void> {
    let reading: Hypothesis | undefined;
    this.#start(part, (result) => (reading = readingOf(result, lengthMs(part))));
    while (this.#run) yield this.#run.over;
    return reading;
  }

  #start(samples: Int16Array, take: (result: LibraryResult) => void): void {
    const run = this.#runs.add(samples, this.#mode, this.#config);
    const over = run.result.then((result) => {
      if (this.#run?.run !== run) return;
      this.#run = undefined;
      take(result);
    });
    // end() and work() return this promise, but nothing awaits it after the utterance.
    over.catch(() => {});
    this.#run = { run, over };
  }

  #spoken(): Int16Array {
    const all = joinSamples(this.#chunks);
    this.#chunks = [all];
    return all;
  }

  #drop(): void {
    this.#run?.run.cancel();
    this.#run = undefined;
    this.#chunks = [];
    this.#samples = 0;
    this.#isSilent = true;
    this.#partial = undefined;
    this.#partialSamples = 0;
  }
}

function lengthMs(samples: Int16Array): number {
  return (samples.length * 1000) / engineSampleRate;
}
