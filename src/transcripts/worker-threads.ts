import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { FairSemaphore } from "../std/fair-semaphore.ts";

/**
 * Texts shorter than this are processed in this thread, which takes a few milliseconds; starting a
 * thread takes 50.
 */
const threadBytesMin = 64_000;
/**
 * At most half of the cores work on files, and a quarter on answers, because live audio needs the
 * others.
 */
const filesMax = Math.max(1, Math.floor(availableParallelism() / 2));
const answersMax = Math.max(1, Math.floor(availableParallelism() / 4));
/** The maximum number of threads that run concurrently. */
export const workerThreadsMax = filesMax + answersMax;

/**
 * A task takes seconds at most. Waiting tasks keep megabytes of input in memory, which the callers
 * of `answers` count.
 */
const semaphores = {
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
 * Runs one of the tasks of worker-thread-tasks.ts. A task with a long text runs in a worker thread,
 * because the main thread handles live audio. Input and output are plain data. Tasks beyond the
 * limits wait their turn. Throws resource_exhausted if too many tasks of the account wait, or if
 * the turn does not come in time.
 */
export async function runInWorkerThread<Input, Output>(
  task: (input: Input) => Output,
  input: Input,
  options: {
    readonly bytes: number;
    readonly accountId: string;
    readonly signal: AbortSignal;
    /**
     * Bytes of the input that the caller does not need afterwards, which are transferred without a
     * copy.
     */
    readonly transfer?: readonly Uint8Array[];
    /** The kind of task whose limits apply. Default: files. */
    readonly use?: keyof typeof semaphores;
  },
): Promise<Output> {
  const { bytes, accountId, signal, transfer = [], use = "files" } = options;
  if (bytes < threadBytesMin) return task(input);
  return await semaphores[use].run(
    accountId,
    signal,
    async () => await runOnThread(task, input, { signal, transfer }),
  );
}

/** How long an idle thread is kept for the next task, since starting a thread takes 50 ms. */
const idleMsMax = 10_000;
/** Twice the memory that comparing the longest transcripts requires. */
const heapMbMax = 512;

/**
 * Idle threads with the timers that end them. There are at most as many as can run concurrently.
 */
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

/**
 * Returns the buffers to transfer, each once: only those of arrays that do not share their buffers.
 */
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
  const started = new Worker(new URL("./worker-thread-tasks.ts", import.meta.url), {
    resourceLimits,
  });
  // An idle thread can end by itself, without affecting tasks.
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
