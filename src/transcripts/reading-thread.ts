import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { LongMessage } from "../std/long-messages.ts";
import type { TakenSegments } from "./read-segments.ts";

export interface ThreadTask {
  readonly message: LongMessage;
  /** Whether to read segments in any form, which is slow: see takeSegments(). */
  readonly anyForm: boolean;
}

/**
 * The heap of the thread. The largest transcript takes a third of the heap when the library reads
 * it.
 */
const heapMbMax = 768;

/**
 * A worker thread that reads one message at a time. The thread starts with the first message, and
 * restarts after an error.
 */
export class ReadingThread implements AsyncDisposable {
  #worker: Worker | undefined;

  /** Reads a message and transfers the buffer of its bytes. */
  async read(task: ThreadTask): Promise<TakenSegments> {
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    try {
      const { buffer } = task.message.bytes;
      worker.postMessage(task, buffer instanceof ArrayBuffer ? [buffer] : []);
      return await answerOf(worker);
    } catch (error) {
      this.#worker = undefined;
      await worker.terminate();
      throw error;
    } finally {
      worker.unref();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  /** Starts the thread. The thread can also end while it is idle, without affecting reads. */
  #start(): Worker {
    const worker = new Worker(new URL("./segments-worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
    });
    const end = (): void => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    return worker.on("error", end).on("exit", end);
  }
}

/** Waits for the next message from the thread; throws if the thread ends first. */
async function answerOf(worker: Worker): Promise<TakenSegments> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(worker, "exit", { signal }).then(() => {
    throw new Error("the thread that reads segments has ended");
  });
  try {
    const [answer]: TakenSegments[] = await Promise.race([
      once(worker, "message", { signal }),
      ended,
    ]);
    if (answer === undefined) throw new Error("the thread that reads segments sent nothing");
    return answer;
  } finally {
    settled.abort();
  }
}
