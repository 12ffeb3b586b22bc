/**
 * The answers of a method until it ends or `signal` aborts. An abort throws the signal's reason
 * immediately, even if the method ignores the signal, and does not wait for the method; the
 * method's `finally` blocks run in any case.
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
      // Not Promise.race with one shared promise: it would keep every answer of a long stream in
      // memory.
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
    // The call is over: a failure of the cleanup has no one to report it to.
    if (!isDone) iterator.return?.().catch(() => {});
  }
}

/** The answer of a method, or the signal's reason as soon as that aborts. */
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
