import { type Decoder, engineSampleRate, type Hypothesis } from "../protocol/engine.ts";
import { finalReadings, type FrameTimes, partialReading } from "./beam-readings.ts";
import { CtcBeam } from "./ctc-beam.ts";
import { type DecoderParts, leadFrames } from "./decoder-parts.ts";
import { featureMs, FilterBanks } from "./filter-banks.ts";
import type { StreamingLayout } from "./model-layout.ts";
import { OutputsWriter } from "./outputs-writer.ts";
import type { StreamingBatch, Window } from "./streaming-batch.ts";
import { newStreamState, type StreamState } from "./window-tensors.ts";

/**
 * Decodes an utterance while it is spoken, one window at a time, in a batch with other streams of
 * its model.
 */
export class StreamingDecoder implements Decoder {
  readonly #parts: DecoderParts;
  readonly #layout: StreamingLayout;
  readonly #batch: StreamingBatch;
  readonly #banks: FilterBanks;
  readonly #beam: CtcBeam;
  readonly #state: StreamState;
  readonly #outputs: Float32Array;
  readonly #writer: OutputsWriter | undefined;
  #hasOutputs = false;
  /** The window that is waiting or running. */
  #window: Window | undefined;
  #run: Promise<void> | undefined;
  #samples = 0;
  /** The last partial reading, and the frames that it covers. */
  #partial: { readonly frames: number; readonly reading: Hypothesis | undefined } | undefined;

  constructor(layout: StreamingLayout, batch: StreamingBatch, parts: DecoderParts) {
    this.#parts = parts;
    this.#layout = layout;
    this.#batch = batch;
    this.#banks = new FilterBanks(layout.binCount);
    this.#beam = new CtcBeam(parts.table, parts.scorer, parts.beamWidth);
    this.#state = newStreamState(layout);
    this.#outputs = new Float32Array(layout.outputFrames * layout.tokenCount);
    if (parts.keepsOutputs) this.#writer = new OutputsWriter(layout.tokenCount, parts.table.blank);
  }

  begin(): void {
    this.#cancel();
    this.#banks.clear();
    this.#banks.addSilence(leadFrames);
    this.#beam.clear();
    this.#writer?.clear();
    this.#state.channel.fill(0);
    this.#state.time.fill(0);
    this.#state.channelLength = 0n;
    this.#hasOutputs = false;
    this.#samples = 0;
    this.#partial = undefined;
  }

  accept(samples: Int16Array): void {
    this.#samples += samples.length;
    this.#banks.accept(samples);
  }

  pause(): void {}

  work(): boolean | Promise<void> {
    this.#search();
    return this.#runNext() ?? false;
  }

  partial(): Hypothesis | undefined {
    const { frames } = this.#beam;
    if (this.#partial?.frames !== frames) {
      const reading = partialReading(this.#beam, this.#parts.table, this.#times());
      this.#partial = { frames, reading };
    }
    return this.#partial.reading;
  }

  *end(): Generator<void | Promise<void>, readonly Hypothesis[], void> {
    if (this.#samples === 0) return [];
    try {
      this.#banks.end();
      // Silence fills the last window.
      this.#banks.addSilence(this.#layout.windowFrames);
      for (let run = this.#runNext(); run; run = this.#runNext()) {
        yield run;
        if (this.#search()) yield;
      }
      const { table, scorer, alternativesMax: countMax } = this.#parts;
      return finalReadings(this.#beam, { table, scorer, times: this.#times(), countMax });
    } finally {
      this.#cancel();
    }
  }

  /**
   * Runs the next window, if there is one and none is in progress. Returns a promise while a window
   * is in progress.
   */
  #runNext(): Promise<void> | undefined {
    if (this.#window || this.#hasOutputs) return this.#run;
    const { windowFrames, shiftFrames } = this.#layout;
    if (this.#banks.count < windowFrames) return undefined;
    const window: Window = {
      mode: this.#parts.mode,
      state: this.#state,
      frames: () => this.#banks.values,
      take: (logs) => {
        this.#outputs.set(logs);
        this.#banks.drop(shiftFrames);
        this.#hasOutputs = true;
        this.#window = undefined;
      },
      isCancelled: false,
    };
    this.#window = window;
    this.#run = this.#batch.run(window);
    return this.#run;
  }

  /** Searches new outputs; returns false if there are none. */
  #search(): boolean {
    if (!this.#hasOutputs) return false;
    this.#hasOutputs = false;
    const { tokenCount } = this.#layout;
    for (let at = 0; at < this.#outputs.length; at += tokenCount) {
      this.#beam.step(this.#outputs, at);
      this.#writer?.add(this.#outputs, at);
    }
    return true;
  }

  #times(): FrameTimes {
    const endMs = (this.#samples * 1000) / engineSampleRate;
    return { frameMs: this.#layout.frameMs, startMs: -leadFrames * featureMs, endMs };
  }

  #cancel(): void {
    if (this.#window) this.#window.isCancelled = true;
    this.#window = undefined;
    this.#hasOutputs = false;
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
    this.#cancel();
  }
}
