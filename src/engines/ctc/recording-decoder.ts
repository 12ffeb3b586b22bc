import { type Decoder, engineSampleRate, type Hypothesis } from "../protocol/engine.ts";
import { finalReadings, type FrameTimes, partialReading } from "./beam-readings.ts";
import { CtcBeam } from "./ctc-beam.ts";
import { type DecoderParts, leadFrames } from "./decoder-parts.ts";
import { featureMs, FilterBanks } from "./filter-banks.ts";
import type { Outputs, RecordingModel } from "./recording-model.ts";

/** Silence after an utterance, so that its last word is told. */
const tailFrames = 16;
/**
 * A live utterance is heard again after so many frames at the earliest, and so that hearing takes
 * at most this share of the time.
 */
const againFramesMin = 20;
const againShareMax = 1 / 3;
/** Searched in one slice. */
const sliceMs = 100;

/** A hearing of an utterance so far, being searched. */
interface Hearing {
  /** Frames of features that it is of. */
  readonly frames: number;
  readonly endMs: number;
  outputs: Outputs | undefined;
  heard: Promise<void>;
}

/** Hears an utterance as a whole when it is over; live, also what there is of it now and then. */
export class RecordingDecoder implements Decoder {
  readonly #parts: DecoderParts;
  readonly #model: RecordingModel;
  readonly #banks: FilterBanks;
  readonly #beam: CtcBeam;
  #hearing: Hearing | undefined;
  /** Live, it is heard again when there are so many frames. */
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
    this.#hearing = undefined;
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
    if (!this.#hearing && this.#banks.count >= this.#againAt) this.#hear();
    const hearing = this.#hearing;
    if (!hearing) return false;
    if (!hearing.outputs) return hearing.heard;
    if (this.#search(hearing.outputs)) return true;
    this.#partial = partialReading(this.#beam, this.#parts.table, this.#times(hearing));
    const pauseMin = this.#model.costOf(hearing.frames) / againShareMax;
    this.#againAt = hearing.frames + Math.max(againFramesMin, pauseMin);
    this.#hearing = undefined;
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
      const hearing = this.#hear();
      while (!hearing.outputs) yield hearing.heard;
      while (this.#search(hearing.outputs)) yield;
      const { table, scorer, alternativesMax: countMax } = this.#parts;
      return finalReadings(this.#beam, { table, scorer, times: this.#times(hearing), countMax });
    } finally {
      this.#hearing = undefined;
    }
  }

  /** Hears all frames that there are, in place of what is being heard. */
  #hear(): Hearing {
    // A copy: more frames may come while these are waiting for their turn.
    const features = this.#banks.values.slice();
    const hearing: Hearing = {
      frames: this.#banks.count,
      endMs: (this.#samples * 1000) / engineSampleRate,
      outputs: undefined,
      heard: this.#model.hear(features).then((outputs) => {
        hearing.outputs = outputs;
      }),
    };
    this.#hearing = hearing;
    this.#beam.clear();
    return hearing;
  }

  /** Searches a slice more; false when there is none. */
  #search({ logs, frames }: Outputs): boolean {
    const { tokenCount, frameMs } = this.#model.layout;
    const slice = Math.max(1, Math.floor(sliceMs / frameMs));
    const end = Math.min(frames, this.#beam.frames + slice);
    while (this.#beam.frames < end) this.#beam.step(logs, this.#beam.frames * tokenCount);
    return end < frames;
  }

  #times({ endMs }: Hearing): FrameTimes {
    return { frameMs: this.#model.layout.frameMs, startMs: -leadFrames * featureMs, endMs };
  }

  /** Nothing is learnt of a stream: each utterance begins anew. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#hearing = undefined;
  }
}
