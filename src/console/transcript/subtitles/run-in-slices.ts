/** The time that a slice of work may take, which is less than a frame. */
const sliceMs = 8;

/**
 * Runs work that yields often, in slices with time for other tasks in between. Returns its result,
 * or undefined if the signal aborts first.
 */
export async function runInSlices<Result>(
  work: Generator<void, Result, void>,
  signal: AbortSignal,
): Promise<Result | undefined> {
  while (!signal.aborted) {
    const until = performance.now() + sliceMs;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return undefined;
}
