import {
  type Decoder,
  engineSampleRate,
  type Hypothesis,
  type RecognitionMode,
} from "../protocol/engine.ts";
import type { HeardResult } from "./heard-result.ts";
import type { OfflineRuns, Run } from "./offline-runs.ts";
import { joinedReadings, readingOf } from "./reading.ts";
import type { SherpaConfig } from "./sherpa-library.ts";
import { utteranceParts } from "./utterance-parts.ts";

/** Live, what was said so far is heard again after so much more of it, at the least. */
const partialMsMin = 500;
/** And after so many times what it took: a third of the time goes to it at most. */
const restPerCost = 3;
/** What it takes is the least of so many: the rest is what others took of the machine. */
const costsKept = 5;

/**
 * Hears an utterance when it is over, with a model that hears whole utterances only. Live, it hears
 * what was said so far again and again, to tell it.
 */
export class WholeDecoder implements Decoder {
  readonly #runs: OfflineRuns;
  readonly #mode: RecognitionMode;
  readonly #samplesMax: number;
  readonly #config: SherpaConfig | undefined;
  #chunks: Int16Array[] = [];
  #samples = 0;
  #isSilent = true;
  /** One that is not over, and what resolves when it is. */
  #run: { readonly run: Run; readonly over: Promise<void> } | undefined;
  #told: Hypothesis | undefined;
  #toldSamples = 0;
  readonly #costsMs: number[] = [];

  constructor(
    runs: OfflineRuns,
    options: {
      readonly mode: RecognitionMode;
      readonly secondsMax: number;
      /** Of its runs, where it is not that of all. */
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
    if (!this.#run && this.#isPartialDue()) this.#hearPartial();
    return this.#run?.over ?? false;
  }

  partial(): Hypothesis | undefined {
    return this.#told;
  }

  *end(): Generator<Promise<void>, readonly Hypothesis[], void> {
    try {
      while (this.#run) yield this.#run.over;
      if (this.#isSilent) return [];
      const heard: (readonly [Hypothesis, number])[] = [];
      let samples = 0;
      for (const part of utteranceParts(this.#spoken(), this.#samplesMax)) {
        const reading = yield* this.#hear(part);
        if (reading) heard.push([reading, Math.floor((samples * 1000) / engineSampleRate)]);
        samples += part.length;
      }
      const reading = joinedReadings(heard);
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
    const newMs = ((this.#samples - this.#toldSamples) * 1000) / engineSampleRate;
    return newMs >= restMs && this.#runs.hasRoom;
  }

  #hearPartial(): void {
    const startMs = performance.now();
    const spoken = this.#spoken();
    this.#toldSamples = spoken.length;
    this.#start(spoken, (heard) => {
      this.#costsMs.push(performance.now() - startMs);
      if (this.#costsMs.length > costsKept) this.#costsMs.shift();
      this.#told = readingOf(heard, lengthMs(spoken)) ?? this.#told;
    });
  }

  *#hear(part: Int16Array): Generator<Promise<void>, Hypothesis | undefined, void> {
    let reading: Hypothesis | undefined;
    this.#start(part, (heard) => (reading = readingOf(heard, lengthMs(part))));
    while (this.#run) yield this.#run.over;
    return reading;
  }

  #start(samples: Int16Array, take: (heard: HeardResult) => void): void {
    const run = this.#runs.add(samples, this.#mode, this.#config);
    const over = run.heard.then((heard) => {
      if (this.#run?.run !== run) return;
      this.#run = undefined;
      take(heard);
    });
    // Whoever waits for it is told; after the utterance nobody does.
    over.catch(() => {});
    this.#run = { run, over };
  }

  #spoken(): Int16Array {
    const all = new Int16Array(this.#samples);
    let at = 0;
    for (const chunk of this.#chunks) {
      all.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [all];
    return all;
  }

  #drop(): void {
    this.#run?.run.cancel();
    this.#run = undefined;
    this.#chunks = [];
    this.#samples = 0;
    this.#isSilent = true;
    this.#told = undefined;
    this.#toldSamples = 0;
  }
}

function lengthMs(samples: Int16Array): number {
  return (samples.length * 1000) / engineSampleRate;
}
