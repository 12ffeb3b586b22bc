import { type InferenceSession, Tensor } from "../../audio/onnx-runtime.ts";
import type { RecordingLayout } from "./model-layout.ts";

/** The number of frames in the measurement: half of the longest utterance. */
const measuredFrames = 1000;

/** The outputs of a model for a recording. */
export interface Outputs {
  /** Log probabilities, frame by frame. */
  readonly logs: Float32Array;
  readonly frames: number;
}

/** A model that processes whole recordings. */
export class RecordingModel {
  readonly layout: RecordingLayout;
  readonly #session: InferenceSession;
  /** The time that the model takes for a frame, in frames. */
  #costOfFrame = 0;

  constructor(session: InferenceSession, layout: RecordingLayout) {
    this.#session = session;
    this.layout = layout;
  }

  /**
   * Returns the time that the model takes for this number of frames, in frames. It is measured
   * once, so that every stream is decoded at the same points.
   */
  costOf(frames: number): number {
    return frames * this.#costOfFrame;
  }

  /** Measures the cost of a frame in a second run, because the first run allocates memory. */
  async measure(): Promise<void> {
    const frames = new Float32Array(measuredFrames * this.layout.binCount);
    await this.run(frames);
    const start = performance.now();
    await this.run(frames);
    this.#costOfFrame = (performance.now() - start) / 10 / measuredFrames;
  }

  /** Runs the model on frames of features, one after another. */
  async run(features: Float32Array): Promise<Outputs> {
    const { binCount, tokenCount } = this.layout;
    const count = features.length / binCount;
    const inputs = [
      new Tensor("float32", features, [1, count, binCount]),
      new Tensor("int64", BigInt64Array.of(BigInt(count)), [1]),
    ];
    // Inputs and outputs are identified by position, because names differ.
    const { inputNames, outputNames } = this.#session;
    const feeds = Object.fromEntries(inputs.map((each, at) => [inputNames[at] ?? "", each]));
    const outputs = await this.#session.run(feeds);
    const logs = outputs[outputNames[0] ?? ""]?.data;
    const lengths = outputs[outputNames[1] ?? ""]?.data;
    if (!(logs instanceof Float32Array)) throw new Error("the model returned no numbers");
    const outputFrames =
      lengths instanceof BigInt64Array ? Number(lengths[0]) : Number.POSITIVE_INFINITY;
    return { logs, frames: Math.min(outputFrames, logs.length / tokenCount) };
  }
}
