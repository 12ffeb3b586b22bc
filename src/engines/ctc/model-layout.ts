import { type InferenceSession, Tensor } from "../../audio/onnx-runtime.ts";
import { ModelFileError } from "../../models/check-model-files.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { featureMs } from "./filter-banks.ts";
import type { StreamingShape } from "./window-tensors.ts";

/**
 * The layout of a model that processes windows of a stream, and carries a state from one window to
 * the next.
 */
export interface StreamingLayout extends StreamingShape {
  readonly kind: "streaming-nemo-ctc";
  /** The number of frames from the start of a window to the start of the next. */
  readonly shiftFrames: number;
  /** The time from one output to the next, in milliseconds. */
  readonly frameMs: number;
}

/** The layout of a model that processes whole recordings. */
export interface RecordingLayout {
  readonly kind: "zipformer-ctc";
  readonly binCount: number;
  readonly tokenCount: number;
  readonly frameMs: number;
}

interface Sources {
  readonly card: ModelCard;
  /** The path of the model's file. */
  readonly path: string;
  readonly metadata: ReadonlyMap<string, string>;
}

/**
 * The maximum count that is accepted in a layout: more than any real model has, and small enough
 * for exact arithmetic.
 */
const countMax = 999_999;
const countNeed = `a whole number from 1 to ${countMax}`;
/** The maximum number of values in an input; real models have about a million. */
const inputSizeMax = 1 << 24;
/** The subsampling of zipformer models without metadata. */
const subsamplingDefault = 4;
/**
 * The tolerance for the sum of the probabilities of an output, which should be 1. Outside this
 * tolerance, the numbers are not probabilities.
 */
const sumTolerance = 0.05;
/**
 * The number of frames with which a recording model is run to determine how many tokens it has.
 */
const probeFrames = 100;

/**
 * Determines the layout of a model from its inputs, its metadata (as NeMo writes it), and the
 * options of its card, which override the metadata. It also runs the model once on silence and uses
 * the outputs. Throws ModelFileError if the model is of another kind.
 */
export async function readLayout(
  session: InferenceSession,
  sources: Sources,
): Promise<StreamingLayout | RecordingLayout> {
  const { card, path } = sources;
  const actual = kindOf(session);
  if (actual !== card.kind) {
    throw new ModelFileError(
      path,
      `is ${actual ? `a ${actual}` : "another"} model, not ${card.kind}`,
    );
  }
  return actual === "streaming-nemo-ctc"
    ? await streamingLayout(session, sources)
    : await recordingLayout(session, sources);
}

/**
 * Determines the kind of the model. Inputs and outputs are identified by position, because names
 * differ between exporters.
 */
function kindOf({
  inputMetadata,
  outputNames,
}: InferenceSession): "streaming-nemo-ctc" | "zipformer-ctc" | undefined {
  const [signal] = inputMetadata;
  const inputs = inputMetadata.map((each) =>
    each.isTensor ? `${each.type} ${each.shape.length}` : "",
  );
  const bins = signal?.isTensor ? signal.shape.map((dim) => typeof dim === "number") : [];
  switch (inputs.join(", ")) {
    case "float32 3, int64 1, float32 4, float32 4, int64 1":
      return bins[1] && outputNames.length === 5 ? "streaming-nemo-ctc" : undefined;
    case "float32 3, int64 1":
      return bins[2] && outputNames.length === 2 ? "zipformer-ctc" : undefined;
    default:
      return undefined;
  }
}

async function streamingLayout(
  session: InferenceSession,
  sources: Sources,
): Promise<StreamingLayout> {
  const { path, metadata } = sources;
  const normalization = metadata.get("normalize_type") ?? "";
  if (!["", "NA"].includes(normalization)) {
    throw new ModelFileError(
      path,
      `needs features normalized ${normalization}, which is not supported`,
    );
  }
  const windowFrames = countOf(sources, "windowFrames", "window_size");
  const shiftFrames = countOf(sources, "shiftFrames", "chunk_shift");
  if (shiftFrames > windowFrames) {
    throw new ModelFileError(
      path,
      `skips frames: it shifts ${shiftFrames} for a window of ${windowFrames}`,
    );
  }
  const frameMs = frameMsOf(sources);
  const binCount = dimensionOf(session, 0, 1) ?? 0;
  const channelDims = stateDims(session, sources, 2, "cache_last_channel_dim");
  const timeDims = stateDims(session, sources, 3, "cache_last_time_dim");
  const [outputFrames = 0, tokenCount = 0] = await outputDims(session, path, [
    floats(path, [1, binCount, windowFrames]),
    integers(windowFrames),
    floats(path, [1, ...channelDims]),
    floats(path, [1, ...timeDims]),
    integers(0),
  ]);
  const shiftMs = shiftFrames * featureMs;
  if (Math.abs(outputFrames * frameMs - shiftMs) >= frameMs) {
    const outputs = `${outputFrames} outputs of ${frameMs} ms`;
    throw new ModelFileError(path, `has ${outputs} for ${shiftMs} ms of each window`);
  }
  const rowsMax = isForOneStream(session) ? 1 : Infinity;
  const shape = {
    rowsMax,
    binCount,
    windowFrames,
    outputFrames,
    tokenCount,
    channelDims,
    timeDims,
  };
  // frameMs is computed, because a rounding error would accumulate from window to window.
  return { kind: "streaming-nemo-ctc", shiftFrames, frameMs: shiftMs / outputFrames, ...shape };
}

/**
 * Whether the model was exported for one stream. A fixed number of streams must be 1, because the
 * model ran with one stream.
 */
function isForOneStream(session: InferenceSession): boolean {
  return session.inputNames.some((_, input) => dimensionOf(session, input, 0) !== undefined);
}

async function recordingLayout(
  session: InferenceSession,
  sources: Sources,
): Promise<RecordingLayout> {
  const binCount = dimensionOf(session, 0, 2) ?? 0;
  const inputs = [floats(sources.path, [1, probeFrames, binCount]), integers(probeFrames)];
  const [, tokenCount = 0] = await outputDims(session, sources.path, inputs);
  return { kind: "zipformer-ctc", binCount, tokenCount, frameMs: frameMsOf(sources) };
}

/** The last two dimensions of the first output: frames and tokens. */
async function outputDims(
  session: InferenceSession,
  path: string,
  inputs: readonly Tensor[],
): Promise<readonly number[]> {
  const feeds = Object.fromEntries(
    session.inputNames.map((name, index) => [name, inputs[index] ?? integers(0)]),
  );
  let outputs: InferenceSession.OnnxValueMapType;
  try {
    outputs = await session.run(feeds);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ModelFileError(path, `cannot process silence: ${problem}`);
  }
  const first = outputs[session.outputNames[0] ?? ""];
  if (first instanceof Tensor && first.data instanceof Float32Array && first.dims.length === 3) {
    const [, , tokenCount = 0] = first.dims;
    const sum = first.data.subarray(0, tokenCount).reduce((all, log) => all + Math.exp(log), 0);
    if (Math.abs(sum - 1) <= sumTolerance) return first.dims.slice(1);
  }
  throw new ModelFileError(path, "its outputs are not log probabilities of tokens");
}

function stateDims(
  session: InferenceSession,
  sources: Sources,
  input: number,
  name: string,
): readonly number[] {
  return [1, 2, 3].map(
    (axis) => dimensionOf(session, input, axis) ?? metadataNumber(sources, `${name}${axis}`),
  );
}

/** The size of a dimension of an input; undefined if any size is accepted. */
function dimensionOf(session: InferenceSession, input: number, axis: number): number | undefined {
  const metadata = session.inputMetadata[input];
  const dimension = metadata?.isTensor ? metadata.shape[axis] : undefined;
  return typeof dimension === "number" ? dimension : undefined;
}

function frameMsOf(sources: Sources): number {
  const { card, metadata } = sources;
  const option = numberOption(card, "frameMs");
  if (option !== undefined) return option;
  const isKnown = card.kind === "streaming-nemo-ctc" || metadata.has("subsampling_factor");
  const factor = isKnown ? metadataNumber(sources, "subsampling_factor") : subsamplingDefault;
  return factor * featureMs;
}

function countOf(sources: Sources, option: string, name: string): number {
  const given = numberOption(sources.card, option);
  if (given === undefined) return metadataNumber(sources, name);
  if (Number.isInteger(given) && given >= 1 && given <= countMax) return given;
  throw new ModelFileError("model.json", `option ${option} must be ${countNeed}, not ${given}`);
}

function metadataNumber({ path, metadata }: Sources, name: string): number {
  const text = metadata.get(name);
  if (text !== undefined && /^[1-9]\d{0,5}$/.test(text)) return Number(text);
  const problem =
    text === undefined
      ? "is required"
      : `must be ${countNeed}, not ${JSON.stringify(text.slice(0, 40))}`;
  throw new ModelFileError(path, `its metadata ${name} ${problem}`);
}

/** Returns an option of a card; throws ModelFileError if it is not a number. */
export function numberOption({ options }: ModelCard, name: string): number | undefined {
  const value = options[name];
  if (value === undefined || (typeof value === "number" && value >= 0)) return value;
  throw new ModelFileError(
    "model.json",
    `option ${name} must be a number of at least 0, not ${value}`,
  );
}

function floats(path: string, dims: readonly number[]): Tensor {
  const size = dims.reduce((product, each) => product * each, 1);
  if (size > inputSizeMax) {
    throw new ModelFileError(path, `has an input of ${dims.join(" times ")} numbers: too many`);
  }
  return new Tensor("float32", new Float32Array(size), dims);
}

function integers(value: number): Tensor {
  return new Tensor("int64", BigInt64Array.of(BigInt(value)), [1]);
}
