import type { InferenceSession } from "../../audio/onnx-runtime.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import { onnxDefaults, type OnnxOptions } from "../../models/onnx-options.ts";
import { type StreamingShape, type StreamState, WindowTensors } from "./window-tensors.ts";

/**
 * The modes in order of urgency. A run contains windows of one mode, so that live windows do not
 * wait for others.
 */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];

/** A window of a stream to be run. */
export interface Window {
  readonly mode: RecognitionMode;
  /** The state before the window, which the run updates. */
  readonly state: StreamState;
  /** Returns the next frames of the stream; called when the window's turn comes. */
  readonly frames: () => Float32Array;
  /** Receives the log probabilities of the outputs, as a view that must be copied. */
  readonly take: (logs: Float32Array) => void;
  /** Whether the stream no longer needs this window. */
  isCancelled: boolean;
}

interface Waiting {
  readonly window: Window;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs a model on windows of many streams together, so that its weights are read once for all of
 * them. The outputs of a stream do not depend on the other streams in the run.
 */
export class StreamingBatch {
  readonly #session: InferenceSession;
  readonly #shape: StreamingShape;
  /** The maximum number of windows in one run. */
  readonly #rowsMax: number;
  readonly #waitMs: number;
  readonly #waiting: readonly Waiting[][] = modesByRank.map(() => []);
  #tensors: WindowTensors;
  #isRunning = false;
  /** Begins a run that other windows may still join. */
  #wait: NodeJS.Timeout | undefined;

  constructor(
    session: InferenceSession,
    shape: StreamingShape,
    { batchStreams, batchWaitMs }: Pick<OnnxOptions, "batchStreams" | "batchWaitMs"> = onnxDefaults,
  ) {
    this.#session = session;
    this.#shape = shape;
    this.#rowsMax = Math.min(batchStreams, shape.rowsMax);
    this.#waitMs = batchWaitMs;
    this.#tensors = new WindowTensors(session, shape, 1);
  }

  /** Resolves when the window is processed or cancelled. A stream has one window at a time. */
  run(window: Window): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting[modesByRank.indexOf(window.mode)]?.push({ window, resolve, reject });
    if (!this.#isRunning) this.#schedule();
    return promise;
  }

  /** Begins a run at once if it is full or need not wait, otherwise after the wait. */
  #schedule(): void {
    const count = this.#waiting.reduce((sum, windows) => sum + windows.length, 0);
    if (this.#waitMs === 0 || count >= this.#rowsMax) {
      clearTimeout(this.#wait);
      this.#isRunning = true;
      // Other windows from this turn of the event loop join the run.
      setImmediate(() => void this.#runAll());
    } else if (count === 1) {
      this.#wait = setTimeout(() => {
        this.#isRunning = true;
        void this.#runAll();
      }, this.#waitMs);
    }
  }

  async #runAll(): Promise<void> {
    for (let next = this.#takeNext(); next.length > 0; next = this.#takeNext()) {
      const wanted = next.filter(({ window }) => !window.isCancelled);
      try {
        if (wanted.length > 0) await this.#run(wanted.map(({ window }) => window));
        for (const { resolve } of next) resolve();
      } catch (error) {
        for (const { reject } of next) reject(error);
      }
    }
    this.#isRunning = false;
  }

  #takeNext(): readonly Waiting[] {
    const first = this.#waiting.find((windows) => windows.length > 0);
    return first?.splice(0, this.#rowsMax) ?? [];
  }

  async #run(windows: readonly Window[]): Promise<void> {
    if (windows.length > this.#tensors.rowsMax) {
      const rows = Math.min(this.#rowsMax, 2 ** Math.ceil(Math.log2(windows.length)));
      this.#tensors = new WindowTensors(this.#session, this.#shape, rows);
    }
    const tensors = this.#tensors;
    for (const [row, window] of windows.entries()) tensors.put(row, window.frames(), window.state);
    await tensors.run(windows.length);
    for (const [row, window] of windows.entries()) {
      if (!window.isCancelled) window.take(tensors.take(row, window.state));
    }
  }
}
