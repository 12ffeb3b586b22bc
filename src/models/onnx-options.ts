/** Where a network can run. cuda and webgpu are graphics cards; cpu is the processor. */
export const onnxProviders = ["cpu", "cuda", "webgpu"] as const;
export type OnnxProvider = (typeof onnxProviders)[number];

/** How the networks of the ctc engine run. */
export interface OnnxOptions {
  /**
   * Where a network runs, in the order of preference: each of its operations runs on the first
   * provider that has it. The processor has all of them.
   */
  readonly providers: readonly OnnxProvider[];
  /** The maximum number of streams whose windows run together, from 1 to 256. */
  readonly batchStreams: number;
  /** How long the first window waits for windows of other streams, in milliseconds. */
  readonly batchWaitMs: number;
}

export const onnxDefaults: OnnxOptions = { providers: ["cpu"], batchStreams: 32, batchWaitMs: 0 };
