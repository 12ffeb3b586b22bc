import { type Decoder, engineSampleRate, type Hypothesis } from "../protocol/engine.ts";
import { finalReadings, type FrameTimes, partialReading } from "./beam-readings.ts";
import { CtcBeam } from "./ctc-beam.ts";
import { type DecoderParts, leadFrames } from "./decoder-parts.ts";
import { featureMs, FilterBanks } from "./filter-banks.ts";
import type { Outputs, RecordingModel } from "./recording-model.ts";

/** Frames of silence that are put after an utterance, so that the model outputs its last word. */
const tailFrames = 16;
/**
 * A live utterance is decoded again after this many frames at the earliest, and only so often that
 * the model takes at most this share of the time.
 */
const againFramesMin = 20;
const againShareMax = 1 / 3;
/** Audio that is searched in one slice. */
const sliceMs = 100;

/** One pass over the utterance so far. */
interface Pass {
  /** Frames of features. */
  readonly frames: number;
  readonly endMs: number;
  outputs: Outputs | undefined;
  /** Resolves when there are outputs. */
  run: Promise<void>;
}

/**
 * Decodes an utterance as a whole when it has ended. A live utterance is also decoded from time to
 * time while it lasts.
 */
export class RecordingDecoder implements Decoder {
  readonly #parts: DecoderParts;
  readonly #model: RecordingModel;
  readonly #banks: FilterBanks;
  readonly #beam: CtcBeam;
  #pass: Pass | undefined;
  /** A live utterance is decoded again when it has this many frames. */
  #againAt = againFramesMin;
  #samples = 0;
  #partial: Hypothesis | undefined;

  constructor(model: RecordingModel, parts: DecoderParts) {
    this.#parts = parts;
    this.#model = model;
    this.#banks = new FilterBanks(model.layout.binCount);
    this.#beam = new CtcBeam(parts.table, parts.scorer, parts.beamWidth);
  }

  begin(): void {
    this.#pass = undefined;
    this.#againAt = leadFrames + againFramesMin;
    this.#samples = 0;
    this.#partial = undefined;
    this.#banks.clear();
    this.#banks.addSilence(leadFrames);
  }

  accept(samples: Int16Array): void {
    this.#samples += samples.length;
    this.#banks.accept(samples);
  }

  pause(): void {}

  work(): boolean | Promise<void> {
    if (this.#parts.mode !== "live") return false;
    if (!this.#pass && this.#banks.count >= this.#againAt) this.#beginPass();
    const pass = this.#pass;
    if (!pass) return false;
    if (!pass.outputs) return pass.run;
    if (this.#search(pass.outputs)) return true;
    this.#partial = partialReading(this.#beam, this.#parts.table, this.#times(pass));
    const pauseMin = this.#model.costOf(pass.frames) / againShareMax;
    this.#againAt = pass.frames + Math.max(againFramesMin, pauseMin);
    this.#pass = undefined;
    return this.#banks.count >= this.#againAt;
  }

  partial(): Hypothesis | undefined {
    return this.#partial;
  }

  *end(): Generator<void | Promise<void>, readonly Hypothesis[], void> {
    if (this.#samples === 0) return [];
    try {
      this.#banks.end();
      this.#banks.addSilence(tailFrames);
      const pass = this.#beginPass();
      while (!pass.outputs) yield pass.run;
      while (this.#search(pass.outputs)) yield;
      const { table, scorer, alternativesMax: countMax } = this.#parts;
      return finalReadings(this.#beam, { table, scorer, times: this.#times(pass), countMax });
    } finally {
      this.#pass = undefined;
    }
  }

  /** Runs the model on all frames so far, in place of a pass that is under way. */
  #beginPass(): Pass {
    // A copy: more frames may come while these wait for their turn.
    const features = this.#banks.values.slice();
    const pass: Pass = {
      frames: this.#banks.count,
      endMs: (this.#samples * 1000) / engineSampleRate,
      outputs: undefined,
      run: this.#model.run(features).then((outputs) => {
        pass.outputs = outputs;
      }),
    };
    this.#pass = pass;
    this.#beam.clear();
    return pass;
  }

  /** Searches one more slice; false after the last one. */
  #search({ logs, frames }: Outputs): boolean {
    const { tokenCount, frameMs } = this.#model.layout;
    const slice = Math.max(1, Math.floor(sliceMs / frameMs));
    const end = Math.min(frames, this.#beam.frames + slice);
    while (this.#beam.frames < end) this.#beam.step(logs, this.#beam.frames * tokenCount);
    return end < frames;
  }

  #times({ endMs }: Pass): FrameTimes {
    return { frameMs: this.#model.layout.frameMs, startMs: -leadFrames * featureMs, endMs };
  }

  /** It keeps nothing from one utterance to the next. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#pass = undefined;
  }
}
