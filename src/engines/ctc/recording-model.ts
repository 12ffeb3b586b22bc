import { type InferenceSession, Tensor } from "onnxruntime-node";
import type { RecordingLayout } from "./model-layout.ts";

/** What it is measured with: half of the longest utterance. */
const measuredFrames = 1000;

/** What a model puts out for a recording. */
export interface Outputs {
  /** Logarithms of probabilities, a frame after the other. */
  readonly logs: Float32Array;
  readonly frames: number;
}

/** A model that hears whole recordings. */
export class RecordingModel {
  readonly layout: RecordingLayout;
  readonly #session: InferenceSession;
  /** What hearing a frame takes, in frames of time. */
  #costOfFrame = 0;

  constructor(session: InferenceSession, layout: RecordingLayout) {
    this.#session = session;
    this.layout = layout;
  }

  /**
   * How long it takes to hear this many frames, in frames of time: measured once, so that every
   * stream is heard at the same times.
   */
  costOf(frames: number): number {
    return frames * this.#costOfFrame;
  }

  /** The second time counts: the first one makes room for it. */
  async measure(): Promise<void> {
    const frames = new Float32Array(measuredFrames * this.layout.binCount);
    await this.hear(frames);
    const start = performance.now();
    await this.hear(frames);
    this.#costOfFrame = (performance.now() - start) / 10 / measuredFrames;
  }

  /** Takes frames of features, one after another. */
  async hear(features: Float32Array): Promise<Outputs> {
    const { binCount, tokenCount } = this.layout;
    const count = features.length / binCount;
    const inputs = [
      new Tensor("float32", features, [1, count, binCount]),
      new Tensor("int64", BigInt64Array.of(BigInt(count)), [1]),
    ];
    // By their places, not their names.
    const { inputNames, outputNames } = this.#session;
    const feeds = Object.fromEntries(inputs.map((each, at) => [inputNames[at] ?? "", each]));
    const outputs = await this.#session.run(feeds);
    const logs = outputs[outputNames[0] ?? ""]?.data;
    const lengths = outputs[outputNames[1] ?? ""]?.data;
    if (!(logs instanceof Float32Array)) throw new Error("the model put out no numbers");
    const told = lengths instanceof BigInt64Array ? Number(lengths[0]) : Number.POSITIVE_INFINITY;
    return { logs, frames: Math.min(told, logs.length / tokenCount) };
  }
}
