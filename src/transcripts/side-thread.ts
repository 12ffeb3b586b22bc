import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { FairLane } from "../std/fair-lane.ts";

/** What takes less than this many bytes of text takes a few milliseconds; starting a thread takes 50. */
const asideBytesMin = 64_000;
/** Half of the cores at most: live audio needs the others. */
const running = Math.max(1, Math.floor(availableParallelism() / 2));
/** A task takes seconds at most. What waits holds what it works on, megabytes. */
const lane = new FairLane({
  running,
  runningOfOne: Math.max(1, running - 1),
  waitingOfOne: 10,
  waitMsMax: 30_000,
  busyReason: "FILES_BUSY",
});

/**
 * Runs one of the tasks of side-thread-worker.ts, on a thread of its own where the text it works on is long: the main thread carries
 * live audio. Input and output are plain data. Tasks beyond half of the cores wait for their turn; throws resource_exhausted when too
 * many of the account do, or the turn does not come.
 */
export async function runAside<Input, Output>(
  task: (input: Input) => Output,
  input: Input,
  options: { readonly bytes: number; readonly accountId: string; readonly signal: AbortSignal },
): Promise<Output> {
  const { bytes, accountId, signal } = options;
  if (bytes < asideBytesMin) return task(input);
  return await lane.run(accountId, signal, async () => await runOnThread(task, input, signal));
}

async function runOnThread<Input, Output>(
  task: (input: Input) => Output,
  input: Input,
  signal: AbortSignal,
): Promise<Output> {
  const worker = new Worker(new URL("./side-thread-worker.ts", import.meta.url), {
    workerData: { task: task.name, input },
  });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop);
  try {
    return await new Promise<Output>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(signal.reason ?? new Error(`${task.name} ended`)));
    });
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}
