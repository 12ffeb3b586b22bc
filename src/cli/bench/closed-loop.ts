/**
 * Runs `work` `count` times, `inFlight` at a time: when one run ends, the next begins. The first
 * starts are spread over `rampMs`. Resolves to the total time. `work` must not throw.
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
