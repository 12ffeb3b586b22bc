/**
 * Yields what the sources yield, as it comes. A source is asked for its next value when its last
 * one has been taken and another one is requested. Ends when all sources have ended, and fails with
 * the first error of a source. A source must end when its signal aborts, which happens as soon as
 * one of them fails or the values are not needed any more.
 */
export async function* merged<Value>(
  open: (signal: AbortSignal) => readonly AsyncGenerator<Value, void, undefined>[],
  signal: AbortSignal,
): AsyncGenerator<Value, void, undefined> {
  const left = new AbortController();
  const sources = open(AbortSignal.any([signal, left.signal]));
  const arrived: { readonly source: (typeof sources)[number]; readonly value: Value }[] = [];
  const running = new Set(sources);
  let failure: { readonly error: unknown } | undefined;
  let wake = (): void => {};
  const request = async (source: (typeof sources)[number]): Promise<void> => {
    try {
      const { done, value } = await source.next();
      if (done === true) running.delete(source);
      else arrived.push({ source, value });
    } catch (error) {
      failure ??= { error };
    }
    wake();
  };
  try {
    for (const source of sources) void request(source);
    while (running.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      if (arrived.length === 0 && !failure) await promise;
      if (failure) throw failure.error;
      const next = arrived.shift();
      if (!next) continue;
      yield next.value;
      void request(next.source);
    }
  } finally {
    left.abort();
    await Promise.allSettled(sources.map((source) => source.return()));
  }
}
