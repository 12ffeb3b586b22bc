const waitMsMin = 2000;
const waitMsMax = 60_000;

/**
 * Returns how long a job waits before it asks again for an engine whose server has been absent for
 * absentMs: a quarter of the absence, 2 s to 60 s. So a short absence costs little, and a long one
 * causes one attempt a minute.
 */
export function absenceWaitMs(absentMs: number): number {
  return Math.min(waitMsMax, Math.max(waitMsMin, absentMs / 4));
}
