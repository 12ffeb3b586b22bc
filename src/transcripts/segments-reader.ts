import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { ServiceError } from "../std/service-error.ts";
import type { SegmentsRead, UnreadSegments } from "./read-segments.ts";

/** Reads segments that came as JSON on a thread of its own: live audio is not kept waiting. */
export interface SegmentsReader extends AsyncDisposable {
  /**
   * Checks and packs segments, one body after the other. Takes the bytes: who asks has them no more. Throws resource_exhausted when
   * too much is waiting.
   */
  read(unread: UnreadSegments): Promise<SegmentsRead>;
}

/** Of bodies that wait or are being read: one of the longest, or six of eight hours. */
const waitingBytesMax = 32 << 20;
/** Reading the largest body takes a few seconds; a waiting one of the usual size much less. */
const retryAfterMs = 1_000;
/** A body with half a million objects needs less than half of it. */
const heapMbMax = 2_048;

/** The thread starts with the first body that is read, and again after one that has ended it. */
export function openSegmentsReader({ bytesMax = waitingBytesMax } = {}): SegmentsReader {
  let thread: Worker | undefined;
  let waitingBytes = 0;
  let last: Promise<unknown> = Promise.resolve();

  const forget = (ended: Worker): void => {
    if (thread === ended) thread = undefined;
  };

  const readNext = async (unread: UnreadSegments): Promise<SegmentsRead> => {
    thread ??= startThread(forget);
    const worker = thread;
    worker.ref();
    try {
      worker.postMessage(unread, transferable(unread.json));
      return await answerOf(worker);
    } catch (error) {
      thread = undefined;
      await worker.terminate();
      throw error;
    } finally {
      worker.unref();
    }
  };

  return {
    async read(unread) {
      const bytes = unread.json.length;
      if (waitingBytes > 0 && waitingBytes + bytes > bytesMax) throw tooMuch();
      waitingBytes += bytes;
      const turn = last.then(async () => await readNext(unread));
      last = turn.catch(() => {});
      try {
        return await turn;
      } finally {
        waitingBytes -= bytes;
      }
    },
    async [Symbol.asyncDispose]() {
      await last;
      await thread?.terminate();
    },
  };
}

/** A thread may end while nobody waits for it too: that fails nothing but itself. */
function startThread(onEnd: (ended: Worker) => void): Worker {
  const worker = new Worker(new URL("./segments-worker.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  });
  const end = (): void => onEnd(worker);
  return worker.on("error", end).on("exit", end);
}

/** The next message; throws what ends the thread instead. */
async function answerOf(worker: Worker): Promise<SegmentsRead> {
  const settled = new AbortController();
  const { signal } = settled;
  const ended = once(worker, "exit", { signal }).then(() => {
    throw new Error("the thread that reads segments has ended");
  });
  try {
    const [answer]: SegmentsRead[] = await Promise.race([
      once(worker, "message", { signal }),
      ended,
    ]);
    if (answer === undefined) throw new Error("the thread that reads segments says nothing");
    return answer;
  } finally {
    settled.abort();
  }
}

/** A buffer that holds nothing but the bytes goes to the thread as it is. */
function transferable({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

function tooMuch(): ServiceError {
  return new ServiceError("resource_exhausted", "too many long transcripts are being read", {
    reason: "TRANSCRIPTS_BUSY",
    retryAfterMs,
  });
}
