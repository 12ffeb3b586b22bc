/**
 * Does `count` pieces of work, `inFlight` at a time: the next begins when one is over, the first
 * ones over `rampMs`. Resolves with the time that all took. `work` must not throw.
 */
export async function closedLoop(
  { count, inFlight, rampMs }: { count: number; inFlight: number; rampMs: number },
  work: (index: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const workers = Array.from({ length: Math.min(inFlight, count) }, async (_, worker) => {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, (worker * rampMs) / inFlight);
    });
    while (next < count) await work(next++);
  });
  await Promise.all(workers);
  return performance.now() - startedAt;
}
