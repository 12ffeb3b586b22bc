import type { Interceptor } from "@connectrpc/connect";

/** Ends the requests of open streams when the service stops, so that their methods send what is left and end. */
export interface Draining {
  readonly interceptor: Interceptor;
  /** Ends the requests of every open stream, and of those that still come. */
  drain(): void;
}

export function createDraining(): Draining {
  const ends = new Set<() => void>();
  let isDraining = false;

  /** The messages until they end or `drain` is called; what comes after is not read. */
  function until<T>(messages: AsyncIterable<T>): { messages: AsyncIterable<T>; end: () => void } {
    const iterator = messages[Symbol.asyncIterator]();
    const done: IteratorResult<T, undefined> = { done: true, value: undefined };
    let isEnded = isDraining;
    let answer: ((result: IteratorResult<T>) => void) | undefined;
    const next = (): Promise<IteratorResult<T>> => {
      if (isEnded) return Promise.resolve(done);
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

  async function* thenForget<T>(answers: AsyncIterable<T>, end: () => void): AsyncIterable<T> {
    try {
      yield* answers;
    } finally {
      ends.delete(end);
    }
  }

  return {
    interceptor: (next) => async (request) => {
      if (!request.stream) return await next(request);
      const { messages, end } = until(request.message);
      ends.add(end);
      try {
        const response = await next({ ...request, message: messages });
        if (response.stream) return { ...response, message: thenForget(response.message, end) };
        ends.delete(end);
        return response;
      } catch (error) {
        ends.delete(end);
        throw error;
      }
    },
    drain() {
      isDraining = true;
      for (const end of ends) end();
    },
  };
}
