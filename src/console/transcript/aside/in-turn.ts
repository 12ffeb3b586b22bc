/**
 * Runs so many tasks at a time; others wait their turn, and those whose signal aborts meanwhile
 * give theirs up.
 */
export function inTurn(
  atATime: number,
): <Result>(signal: AbortSignal, task: () => Promise<Result>) => Promise<Result> {
  let free = atATime;
  const waiting = new Set<() => void>();
  const giveBack = () => {
    const [next] = waiting;
    if (!next) {
      free += 1;
      return;
    }
    // The place goes to the next one without being free in between.
    waiting.delete(next);
    next();
  };
  return async (signal, task) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else await place(waiting, signal);
    try {
      return await task();
    } finally {
      giveBack();
    }
  };
}

/** Waits for a place; throws where the signal aborts before there is one. */
async function place(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
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
