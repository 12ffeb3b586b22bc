import { type Decoder, engineSampleRate, type Hypothesis } from "../protocol/engine.ts";
import { finalReadings, type FrameTimes, partialReading } from "./beam-readings.ts";
import { CtcBeam } from "./ctc-beam.ts";
import { type DecoderParts, leadFrames } from "./decoder-parts.ts";
import { featureMs, FilterBanks } from "./filter-banks.ts";
import { OutputsWriter } from "./outputs-writer.ts";
import type { Outputs, RecordingModel } from "./recording-model.ts";

/**
 * The number of frames of silence that are put after an utterance, so that the model outputs its
 * last word.
 */
const tailFrames = 16;
/**
 * The minimum number of new frames before a live utterance is decoded again, and the maximum share
 * of the time that the model may take for this.
 */
const againFramesMin = 20;
const againShareMax = 1 / 3;
/** The duration of the audio that is searched in one slice. */
const sliceMs = 100;

/** One pass over the utterance so far. */
interface Pass {
  /** The number of frames of features. */
  readonly frames: number;
  readonly endMs: number;
  outputs: Outputs | undefined;
  /** Resolves when the outputs are available. */
  run: Promise<void>;
}

/**
 * Decodes an utterance as a whole when it has ended. A live utterance is also decoded at intervals
 * while it lasts.
 */
export class RecordingDecoder implements Decoder {
  readonly #parts: DecoderParts;
  readonly #model: RecordingModel;
  readonly #banks: FilterBanks;
  readonly #beam: CtcBeam;
  readonly #writer: OutputsWriter | undefined;
  #pass: Pass | undefined;
  /** The number of frames at which a live utterance is decoded again. */
  #againAt = againFramesMin;
  #samples = 0;
  #partial: Hypothesis | undefined;

  constructor(model: RecordingModel, parts: DecoderParts) {
    this.#parts = parts;
    this.#model = model;
    this.#banks = new FilterBanks(model.layout.binCount);
    this.#beam = new CtcBeam(parts.table, parts.scorer, parts.beamWidth);
    const { tokenCount } = model.layout;
    if (parts.keepsOutputs) this.#writer = new OutputsWriter(tokenCount, parts.table.blank);
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
      this.#writer?.clear();
      for (let frame = 0; frame < pass.outputs.frames; frame++) {
        this.#writer?.add(pass.outputs.logs, frame * this.#model.layout.tokenCount);
      }
      const { table, scorer, alternativesMax: countMax } = this.#parts;
      return finalReadings(this.#beam, { table, scorer, times: this.#times(pass), countMax });
    } finally {
      this.#pass = undefined;
    }
  }

  /** Runs the model on all frames so far. This pass replaces a pass that is in progress. */
  #beginPass(): Pass {
    // The features are copied, because more frames may arrive while they wait for their turn.
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

  /** Searches one more slice; returns false after the last slice. */
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

  takeOutputs(): Uint8Array {
    return this.#writer?.take() ?? new Uint8Array(0);
  }

  /** The decoder keeps no state from one utterance to the next. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#pass = undefined;
  }
}
