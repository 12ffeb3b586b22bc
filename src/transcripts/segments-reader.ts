import { FairSemaphore, type SemaphoreLimits } from "../std/fair-semaphore.ts";
import type { LongMessages } from "../std/long-messages.ts";
import { ServiceError } from "../std/service-error.ts";
import { attachList } from "./sent-segments.ts";
import { ReadingThread } from "./reading-thread.ts";

/**
 * Reads the segments of long transcripts in worker threads. Accounts take turns, so that live audio
 * does not wait.
 */
export interface SegmentsReader extends LongMessages, AsyncDisposable {}

/** The limits of the turns. The server counts and limits the bytes of waiting messages. */
const turns: SemaphoreLimits = {
  running: 1,
  runningOfOne: 1,
  waitingOfOne: 100,
  waitMsMax: 30_000,
  busyReason: "TRANSCRIPTS_BUSY",
};

/**
 * Opens two threads: one for segments in the form that clients write, which take 60 ms per MB, and
 * one for all others, which take at least twice as long and therefore delay only one another.
 */
export function openSegmentsReader(limits: Partial<SemaphoreLimits> = {}): SegmentsReader {
  const semaphoreLimits = { ...turns, ...limits };
  const plain = { semaphore: new FairSemaphore(semaphoreLimits), thread: new ReadingThread() };
  const general = { semaphore: new FairSemaphore(semaphoreLimits), thread: new ReadingThread() };
  const reading = new Set<Promise<unknown>>();

  const shorten: LongMessages["shorten"] = async (message, { accountId, signal }) => {
    let taken = await plain.semaphore.run(
      accountId,
      signal,
      async () => await plain.thread.read({ message, anyForm: false }),
    );
    if ("otherForm" in taken) {
      const again = { ...message, bytes: taken.otherForm };
      taken = await general.semaphore.run(
        accountId,
        signal,
        async () => await general.thread.read({ message: again, anyForm: true }),
      );
    }
    if ("otherForm" in taken) throw new Error("the library did not read it");
    if ("refused" in taken) {
      throw new ServiceError(taken.refused.code, taken.refused.message, taken.refused);
    }
    if ("whole" in taken) return { rest: taken.whole, attach: () => {} };
    const { rest, list } = taken;
    return { rest, attach: (holder) => attachList(holder, list) };
  };

  return {
    async shorten(message, by) {
      const shortening = shorten(message, by);
      reading.add(shortening);
      try {
        return await shortening;
      } finally {
        reading.delete(shortening);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(reading);
      await Promise.all([plain, general].map(({ thread }) => thread[Symbol.asyncDispose]()));
    },
  };
}
