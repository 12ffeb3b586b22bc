import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { FairSemaphore } from "../std/fair-semaphore.ts";

/**
 * What takes less than this many bytes of text takes a few milliseconds; starting a thread takes
 * 50.
 */
const asideBytesMin = 64_000;
/** Half of the cores at most are for files, a quarter for answers: live audio needs the others. */
const filesMax = Math.max(1, Math.floor(availableParallelism() / 2));
const answersMax = Math.max(1, Math.floor(availableParallelism() / 4));
/** Threads that run at once, at most. */
export const sideThreadsMax = filesMax + answersMax;

/**
 * A task takes seconds at most. What waits holds what it works on: megabytes, which those who wait
 * for answers count.
 */
const lanes = {
  files: new FairSemaphore({
    running: filesMax,
    runningOfOne: Math.max(1, filesMax - 1),
    waitingOfOne: 10,
    waitMsMax: 30_000,
    busyReason: "FILES_BUSY",
  }),
  answers: new FairSemaphore({
    running: answersMax,
    runningOfOne: answersMax,
    waitingOfOne: 200,
    waitMsMax: 30_000,
    busyReason: "ANSWERS_FULL",
  }),
};

/**
 * Runs one of the tasks of side-thread-worker.ts, on a thread of its own where the text it works on
 * is long: the main thread carries live audio. Input and output are plain data. Tasks beyond half
 * of the cores wait for their turn; throws resource_exhausted when too many of the account do, or
 * the turn does not come.
 */
export async function runAside<Input, Output>(
  task: (input: Input) => Output,
  input: Input,
  options: {
    readonly bytes: number;
    readonly accountId: string;
    readonly signal: AbortSignal;
    /** Bytes of the input that nobody needs afterwards: they go to the thread without a copy. */
    readonly transfer?: readonly Uint8Array[];
    /** Default: files. */
    readonly lane?: keyof typeof lanes;
  },
): Promise<Output> {
  const { bytes, accountId, signal, transfer = [], lane = "files" } = options;
  if (bytes < asideBytesMin) return task(input);
  return await lanes[lane].run(
    accountId,
    signal,
    async () => await runOnThread(task, input, { signal, transfer }),
  );
}

/**
 * A thread that has nothing to do is kept for the next task this long: starting one takes 50 ms.
 */
const idleMsMax = 10_000;
/** Twice what comparing the longest of transcripts takes. */
const heapMbMax = 512;

/** Threads with nothing to do, each with what ends it; as many as run at once, at most. */
const idle = new Map<Worker, NodeJS.Timeout>();

async function runOnThread<Input, Output>(
  task: (input: Input) => Output,
  input: Input,
  { signal, transfer }: { readonly signal: AbortSignal; readonly transfer: readonly Uint8Array[] },
): Promise<Output> {
  const worker = takeThread();
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop);
  const { promise, resolve, reject } = Promise.withResolvers<Output>();
  const onExit = () => reject(signal.reason ?? new Error(`${task.name} ended`));
  worker.on("message", resolve).on("error", reject).on("exit", onExit);
  worker.postMessage({ task: task.name, input }, buffersOf(transfer));
  try {
    const output = await promise;
    if (!signal.aborted) keepThread(worker);
    return output;
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
    worker.off("message", resolve).off("error", reject).off("exit", onExit);
  }
}

/** Only what has a buffer of its own, each once: others may have their bytes in the same one. */
function buffersOf(transfer: readonly Uint8Array[]): ArrayBuffer[] {
  const buffers = transfer.flatMap(({ buffer, byteLength }) =>
    buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [],
  );
  return [...new Set(buffers)];
}

function takeThread(): Worker {
  for (const [worker, end] of idle) {
    idle.delete(worker);
    clearTimeout(end);
    worker.ref();
    return worker;
  }
  const resourceLimits = { maxOldGenerationSizeMb: heapMbMax };
  const started = new Worker(new URL("./side-thread-worker.ts", import.meta.url), {
    resourceLimits,
  });
  // It may end by itself while nobody waits for it: that fails nothing.
  const forget = (): void => {
    clearTimeout(idle.get(started));
    idle.delete(started);
  };
  return started.on("error", forget).on("exit", forget);
}

function keepThread(worker: Worker): void {
  worker.unref();
  idle.set(worker, setTimeout(() => void worker.terminate(), idleMsMax).unref());
}
