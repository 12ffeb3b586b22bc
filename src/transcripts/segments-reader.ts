import { FairSemaphore, type SemaphoreLimits } from "../std/fair-semaphore.ts";
import type { LongMessages } from "../std/long-messages.ts";
import { ServiceError } from "../std/service-error.ts";
import { attachSegments } from "./sent-segments.ts";
import { ReadingThread } from "./reading-thread.ts";

/**
 * Reads the segments of long transcripts on threads of its own, in turns of the accounts: live
 * audio is not kept waiting.
 */
export interface SegmentsReader extends LongMessages, AsyncDisposable {}

/** What waits is held by the doors, which limit its bytes. */
const turns: SemaphoreLimits = {
  running: 1,
  runningOfOne: 1,
  waitingOfOne: 100,
  waitMsMax: 30_000,
  busyReason: "TRANSCRIPTS_BUSY",
};

/**
 * Opens two threads: one for what is written as clients write it, 20 ms for each MB, and one for
 * all else, which takes ten times as long and so keeps nobody waiting but its like.
 */
export function openSegmentsReader(limits: Partial<SemaphoreLimits> = {}): SegmentsReader {
  const laneLimits = { ...turns, ...limits };
  const quick = { lane: new FairSemaphore(laneLimits), thread: new ReadingThread() };
  const patient = { lane: new FairSemaphore(laneLimits), thread: new ReadingThread() };
  const reading = new Set<Promise<unknown>>();

  const shorten: LongMessages["shorten"] = async (message, { accountId, signal }) => {
    let taken = await quick.lane.run(
      accountId,
      signal,
      async () => await quick.thread.read({ message, isPatient: false }),
    );
    if ("slow" in taken) {
      const again = { ...message, bytes: taken.slow };
      taken = await patient.lane.run(
        accountId,
        signal,
        async () => await patient.thread.read({ message: again, isPatient: true }),
      );
    }
    if ("slow" in taken) throw new Error("the general way is not gone");
    if ("refused" in taken) {
      throw new ServiceError(taken.refused.code, taken.refused.message, taken.refused);
    }
    if ("whole" in taken) return { rest: taken.whole, attach: () => {} };
    const { rest, segments } = taken;
    return { rest, attach: (transcript) => attachSegments(transcript, segments) };
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
      await Promise.all([quick, patient].map(({ thread }) => thread[Symbol.asyncDispose]()));
    },
  };
}
