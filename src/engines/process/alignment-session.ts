import { joinSamples } from "../../audio/join-samples.ts";
import type { WordTime } from "../protocol/alignment.ts";
import {
  type AlignmentSlices,
  type Engine,
  engineSampleRate,
  type FullWork,
} from "../protocol/engine.ts";
import type { OpenSession } from "../protocol/engine-frames.ts";
import type { SessionInput } from "../protocol/recognizer.ts";

/** The reports of an alignment to its process. */
export interface AlignmentOutput {
  /** Reports that this many samples have arrived since the last call. */
  received(samples: number): void;
  aligned(words: readonly WordTime[]): void;
  done(): void;
}

/**
 * The alignment of one window within an engine process: the window is held until its end arrives.
 * Each step() does one slice of the work, as that of an EngineSession.
 */
export class AlignmentSession {
  readonly #engine: Engine;
  readonly #words: readonly string[];
  readonly #output: AlignmentOutput;
  readonly #outputsMs: number | undefined;
  /** Alignment has no efforts. */
  readonly fullWork: FullWork = { workMs: 0, audioSeconds: 0 };
  readonly #parts: Int16Array[] = [];
  #outputs: Uint8Array = new Uint8Array(0);
  #samples = 0;
  #reported = 0;
  #isWhole = false;
  #slices: AlignmentSlices | undefined;

  /** With `outputsMs`, the length of the window, its outputs arrive instead of its samples. */
  constructor(
    engine: Engine,
    { words, outputsMs }: Pick<OpenSession, "outputsMs"> & { readonly words: readonly string[] },
    output: AlignmentOutput,
  ) {
    this.#engine = engine;
    this.#words = words;
    this.#outputsMs = outputsMs;
    this.#output = output;
  }

  get processedSeconds(): number {
    return this.#samples / engineSampleRate;
  }

  get spokenSeconds(): number {
    return this.processedSeconds;
  }

  takeLeastQueuedSeconds(): number {
    return 0;
  }

  push(input: SessionInput): void {
    if (!(input instanceof Int16Array)) return;
    // The samples are copied, since the frame's memory is reused.
    this.#parts.push(input.slice());
    this.#samples += input.length;
  }

  pushOutputs(outputs: Uint8Array): void {
    this.#outputs = outputs.slice();
  }

  endInput(): void {
    this.#isWhole = true;
  }

  step(): boolean | Promise<void> {
    if (this.#samples > this.#reported) {
      this.#output.received(this.#samples - this.#reported);
      this.#reported = this.#samples;
    }
    if (!this.#isWhole) return false;
    this.#slices ??= this.#begin();
    const { done, value } = this.#slices.next();
    if (!done) return value ?? true;
    this.#output.aligned(value);
    this.#output.done();
    return false;
  }

  #begin(): AlignmentSlices {
    const { name } = this.#engine;
    const windowMs = this.#outputsMs;
    const slices =
      windowMs === undefined
        ? this.#engine.align?.(joinSamples(this.#parts.splice(0)), this.#words)
        : this.#engine.outputs?.align({ bytes: this.#outputs, windowMs }, this.#words);
    if (!slices) throw new Error(`the engine ${name} cannot align words`);
    return slices;
  }

  /** Ends the session, even in the middle of its work. */
  close(): void {
    this.#slices?.return([]);
  }
}
