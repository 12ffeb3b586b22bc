/**
 * Creates a function that runs at most `max` tasks concurrently. A waiting task is rejected when
 * its signal aborts.
 */
export function limitConcurrency(
  max: number,
): <Result>(signal: AbortSignal, task: () => Promise<Result>) => Promise<Result> {
  let free = max;
  const waiting = new Set<() => void>();
  const release = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    // The slot is passed on directly, so that no other task can take the slot in the meantime.
    waiting.delete(next);
    next();
  };
  return async (signal, task) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else await acquire(waiting, signal);
    try {
      return await task();
    } finally {
      release();
    }
  };
}

/** Waits until a task may run. Throws if the signal aborts before that. */
async function acquire(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const enter = () => resolve();
  waiting.add(enter);
  const leave = () => {
    if (waiting.delete(enter)) reject(signal.reason);
  };
  signal.addEventListener("abort", leave, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
