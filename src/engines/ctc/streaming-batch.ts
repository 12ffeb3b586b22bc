import type { InferenceSession } from "onnxruntime-node";
import type { RecognitionMode } from "../protocol/engine.ts";
import { type StreamingShape, type StreamState, WindowTensors } from "./window-tensors.ts";

/** Windows heard in one run at most: more at once save nothing more, and others wait for them. */
const rowsMax = 32;
/** Live windows never wait for one that only came along: a run has those of one mode. */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];

/** A window of a stream that is to be heard. */
export interface Window {
  readonly mode: RecognitionMode;
  /** Before it; afterwards it is moved on. */
  readonly state: StreamState;
  /** The next frames of the stream, asked for when its turn has come. */
  readonly frames: () => Float32Array;
  /** Takes the logarithms of the outputs' probabilities: a view, to be copied. */
  readonly take: (logs: Float32Array) => void;
  /** Its stream has gone: nothing of it is looked at any more. */
  isForgotten: boolean;
}

interface Waiting {
  readonly window: Window;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Hears windows of many streams in one run of their model: its weights are walked through once for
 * all of them. What a stream hears does not depend on who else is in the run.
 */
export class StreamingBatch {
  readonly #session: InferenceSession;
  readonly #shape: StreamingShape;
  readonly #waiting: readonly Waiting[][] = modesByRank.map(() => []);
  #tensors: WindowTensors;
  #isRunning = false;

  constructor(session: InferenceSession, shape: StreamingShape) {
    this.#session = session;
    this.#shape = shape;
    this.#tensors = new WindowTensors(session, shape, 1);
  }

  /** Resolves when the window was heard, or forgotten. One at a time of each stream. */
  hear(window: Window): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting[modesByRank.indexOf(window.mode)]?.push({ window, resolve, reject });
    if (!this.#isRunning) {
      this.#isRunning = true;
      // Whoever has a window in this turn of the event loop comes along.
      setImmediate(() => void this.#runAll());
    }
    return promise;
  }

  async #runAll(): Promise<void> {
    for (let next = this.#takeNext(); next.length > 0; next = this.#takeNext()) {
      const wanted = next.filter(({ window }) => !window.isForgotten);
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
    return first?.splice(0, Math.min(rowsMax, this.#shape.rowsMax)) ?? [];
  }

  async #run(windows: readonly Window[]): Promise<void> {
    if (windows.length > this.#tensors.rowsMax) {
      const rows = Math.min(rowsMax, 2 ** Math.ceil(Math.log2(windows.length)));
      this.#tensors = new WindowTensors(this.#session, this.#shape, rows);
    }
    const tensors = this.#tensors;
    for (const [row, window] of windows.entries()) tensors.put(row, window.frames(), window.state);
    await tensors.run(windows.length);
    for (const [row, window] of windows.entries()) {
      if (!window.isForgotten) window.take(tensors.take(row, window.state));
    }
  }
}
