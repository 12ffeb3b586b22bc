/**
 * Yields the responses of a method until the method ends or `signal` aborts. An abort throws the
 * signal's reason immediately, even if the method ignores the signal, and does not wait for the
 * method. The method's `finally` blocks run in any case.
 */
export async function* untilAborted<T>(
  answers: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = answers[Symbol.asyncIterator]();
  let reject: ((reason: unknown) => void) | undefined;
  const onAbort = () => reject?.(signal.reason);
  signal.addEventListener("abort", onAbort);
  let isDone = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      // Promise.race with one shared promise is not used, because it would keep every response of a
      // long stream in memory.
      const result = await new Promise<IteratorResult<T>>((resolve, fail) => {
        reject = fail;
        iterator.next().then(resolve, fail);
      });
      isDone = result.done === true;
      if (result.done) return;
      yield result.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // The call is over, so a failure of the cleanup cannot be reported to anyone.
    if (!isDone) iterator.return?.().catch(() => {});
  }
}

/** Returns the response of a method. Throws the signal's reason as soon as the signal aborts. */
export async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(signal.reason);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
