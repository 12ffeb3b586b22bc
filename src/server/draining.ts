import type { Interceptor } from "@connectrpc/connect";

/** Ends the requests of open streams when the service stops, so that their methods send what is left and end. */
export interface Draining {
  readonly interceptor: Interceptor;
  /** Aborts when the service stops, for methods whose answers have no end of their own. */
  readonly signal: AbortSignal;
  /** Ends the requests of every open stream, and of those that still come. */
  drain(): void;
}

export function createDraining(): Draining {
  const ends = new Set<() => void>();
  const begun = new AbortController();

  /** The messages until they end or `drain` is called; what comes after is not read. */
  function until<T>(messages: AsyncIterable<T>): { messages: AsyncIterable<T>; end: () => void } {
    const iterator = messages[Symbol.asyncIterator]();
    const done: IteratorResult<T, undefined> = { done: true, value: undefined };
    let isEnded = false;
    let answer: ((result: IteratorResult<T>) => void) | undefined;
    const next = (): Promise<IteratorResult<T>> => {
      if (isEnded || begun.signal.aborted) return Promise.resolve(done);
      // Not Promise.race with one promise for all: it would remember every message of a long stream.
      return new Promise((resolve, reject) => {
        answer = resolve;
        iterator.next().then(resolve, reject);
      });
    };
    return {
      messages: { [Symbol.asyncIterator]: () => ({ next }) },
      end: () => {
        isEnded = true;
        answer?.(done);
      },
    };
  }

  /** Remembered from the first answer that is asked for: a call that is refused by then is never asked, nor told that it is over. */
  async function* remembered<T>(answers: AsyncIterable<T>, end: () => void): AsyncIterable<T> {
    ends.add(end);
    if (begun.signal.aborted) end();
    try {
      yield* answers;
    } finally {
      ends.delete(end);
    }
  }

  return {
    signal: begun.signal,
    interceptor: (next) => async (request) => {
      // One message is a whole request: its method listens to `signal`.
      const { methodKind } = request.method;
      if (!request.stream || methodKind === "server_streaming") return await next(request);
      const { messages, end } = until(request.message);
      ends.add(end);
      try {
        const response = await next({ ...request, message: messages });
        return response.stream
          ? { ...response, message: remembered(response.message, end) }
          : response;
      } finally {
        ends.delete(end);
      }
    },
    drain() {
      begun.abort();
      for (const end of ends) end();
    },
  };
}
