import { type InferenceSession, Tensor } from "../../audio/onnx-runtime.ts";

/**
 * The shape of the inputs and outputs of a streaming model, for one stream. This is the layout of
 * NeMo's cache-aware CTC models.
 */
export interface StreamingShape {
  /** The maximum number of streams in one run: 1 if the model was exported for one stream. */
  readonly rowsMax: number;
  readonly binCount: number;
  readonly windowFrames: number;
  /** The number of outputs per window, and of tokens per output. */
  readonly outputFrames: number;
  readonly tokenCount: number;
  /** The dimensions of the two states that are carried from one window to the next. */
  readonly channelDims: readonly number[];
  readonly timeDims: readonly number[];
}

/** The state of a stream between two windows. All values are zero when an utterance begins. */
export interface StreamState {
  readonly channel: Float32Array;
  readonly time: Float32Array;
  channelLength: bigint;
}

export function newStreamState(shape: StreamingShape): StreamState {
  return {
    channel: new Float32Array(sizeOf(shape.channelDims)),
    time: new Float32Array(sizeOf(shape.timeDims)),
    channelLength: 0n,
  };
}

/**
 * The tensors for a run, with a row for each stream, in memory that is allocated once. Inputs and
 * outputs are identified by position, not by name.
 */
export class WindowTensors {
  readonly rowsMax: number;
  readonly #shape: StreamingShape;
  readonly #session: InferenceSession;
  readonly #signal: Float32Array;
  readonly #lengths: BigInt64Array;
  readonly #logs: Float32Array;
  readonly #before: States;
  readonly #after: States;

  constructor(session: InferenceSession, shape: StreamingShape, rowsMax: number) {
    this.rowsMax = rowsMax;
    this.#shape = shape;
    this.#session = session;
    this.#signal = new Float32Array(rowsMax * shape.binCount * shape.windowFrames);
    this.#lengths = new BigInt64Array(rowsMax).fill(BigInt(shape.windowFrames));
    this.#logs = new Float32Array(rowsMax * shape.outputFrames * shape.tokenCount);
    this.#before = newStates(shape, rowsMax);
    this.#after = newStates(shape, rowsMax);
  }

  /** Puts a window of frames, and the state before it, into a row. */
  put(row: number, frames: Float32Array, state: StreamState): void {
    const { binCount, windowFrames } = this.#shape;
    const from = row * binCount * windowFrames;
    for (let frame = 0; frame < windowFrames; frame++) {
      for (let bin = 0; bin < binCount; bin++) {
        this.#signal[from + bin * windowFrames + frame] = frames[frame * binCount + bin] ?? 0;
      }
    }
    this.#before.channel.set(state.channel, row * state.channel.length);
    this.#before.time.set(state.time, row * state.time.length);
    this.#before.lengths[row] = state.channelLength;
  }

  /** Runs the model on the first rows. */
  async run(rows: number): Promise<void> {
    const { binCount, windowFrames, outputFrames, tokenCount } = this.#shape;
    const { inputNames, outputNames } = this.#session;
    const signal = floats(this.#signal, [rows, binCount, windowFrames]);
    const lengths = integers(this.#lengths, rows);
    const feeds = named(inputNames, [signal, lengths, ...this.#states(this.#before, rows)]);
    const [logsName = "", , ...stateNames] = outputNames;
    const fetches = named(stateNames, this.#states(this.#after, rows));
    fetches[logsName] = floats(this.#logs, [rows, outputFrames, tokenCount]);
    await this.#session.run(feeds, fetches);
  }

  /**
   * Updates the state of a row, and returns the row's outputs as a view that is valid until the
   * next run.
   */
  take(row: number, state: StreamState): Float32Array {
    const { channel, time, lengths } = this.#after;
    state.channel.set(rowOf(channel, row, state.channel.length));
    state.time.set(rowOf(time, row, state.time.length));
    state.channelLength = lengths[row] ?? 0n;
    return rowOf(this.#logs, row, this.#shape.outputFrames * this.#shape.tokenCount);
  }

  #states({ channel, time, lengths }: States, rows: number): readonly Tensor[] {
    const { channelDims, timeDims } = this.#shape;
    return [
      floats(channel, [rows, ...channelDims]),
      floats(time, [rows, ...timeDims]),
      integers(lengths, rows),
    ];
  }
}

/** The states of all rows. */
interface States {
  readonly channel: Float32Array;
  readonly time: Float32Array;
  readonly lengths: BigInt64Array;
}

function newStates({ channelDims, timeDims }: StreamingShape, rows: number): States {
  return {
    channel: new Float32Array(rows * sizeOf(channelDims)),
    time: new Float32Array(rows * sizeOf(timeDims)),
    lengths: new BigInt64Array(rows),
  };
}

function named(names: readonly string[], tensors: readonly Tensor[]): Record<string, Tensor> {
  return Object.fromEntries(tensors.map((tensor, index) => [names[index] ?? "", tensor]));
}

function floats(values: Float32Array, dims: readonly number[]): Tensor {
  return new Tensor("float32", values.subarray(0, sizeOf(dims)), dims);
}

function integers(values: BigInt64Array, count: number): Tensor {
  return new Tensor("int64", values.subarray(0, count), [count]);
}

function rowOf(values: Float32Array, row: number, length: number): Float32Array {
  return values.subarray(row * length, (row + 1) * length);
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, each) => product * each, 1);
}
