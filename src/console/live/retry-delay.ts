/** The delay doubles with each failure, from the minimum to the maximum. */
const retryMsMin = 500;
const retryMsMax = 10_000;

/** Returns the delay in ms before the next stream, after this number of earlier failures. */
export function retryDelayMs(failures: number): number {
  return Math.min(retryMsMax, retryMsMin * 2 ** failures);
}
