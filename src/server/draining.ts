import type { Interceptor } from "@connectrpc/connect";
import { shuttingDown } from "./shutting-down.ts";

/**
 * Ends the requests of open streams when the service shuts down, so that their methods send their
 * last responses and end.
 */
export interface Draining {
  readonly interceptor: Interceptor;
  /** Refuses new calls after refuse(). */
  readonly refusal: Interceptor;
  /** Refuses calls and streams from now on. Open ones continue. */
  refuse(): void;
  /** Returns a function for each open stream, which ends its requests. */
  ends(): readonly (() => void)[];
  /**
   * Aborts when the service shuts down. This signal is for methods whose responses do not end by
   * themselves.
   */
  readonly signal: AbortSignal;
  /** Ends the requests of every open stream and of streams opened later. */
  drain(): void;
}

export function createDraining(): Draining {
  const open = new Set<Cut>();
  const begun = new AbortController();
  let refuses = false;

  /**
   * Passes on the responses of a stream. A stream is added only when its responses are first read:
   * the responses of a refused call are never read, and their end is never reported.
   */
  async function* answersTo<T>(requests: Cut, answers: AsyncIterable<T>): AsyncIterable<T> {
    open.add(requests);
    if (begun.signal.aborted) requests.cut();
    try {
      yield* answers;
      requests.throwIfCut();
    } finally {
      open.delete(requests);
    }
  }

  return {
    signal: begun.signal,
    refusal: (next) => async (request) => {
      if (refuses) throw shuttingDown(request.stream ? "stream" : "call");
      return await next(request);
    },
    refuse() {
      refuses = true;
    },
    ends: () => Array.from(open, (requests) => () => requests.cut()),
    interceptor: (next) => async (request) => {
      // A single message is a complete request. The method of such a call uses `signal`.
      const { methodKind } = request.method;
      if (!request.stream || methodKind === "server_streaming") return await next(request);
      const requests = new Requests(request.message);
      open.add(requests);
      if (begun.signal.aborted) requests.cut();
      try {
        const response = await next({ ...request, message: requests });
        if (response.stream) {
          return { ...response, message: answersTo(requests, response.message) };
        }
        requests.throwIfCut();
        return response;
      } finally {
        open.delete(requests);
      }
    },
    drain() {
      begun.abort();
      for (const requests of open) requests.cut();
    },
  };
}

type Cut = Pick<Requests<unknown>, "cut" | "throwIfCut">;

/** The messages of a client until they end or are cut off. Later messages are not read. */
class Requests<T> implements AsyncIterable<T> {
  readonly #messages: AsyncIterator<T>;
  #isCut = false;
  #hasEnded = false;
  /** Whether the method received the cut as the end of the client's messages. */
  #wasCutShort = false;
  #answer: ((result: IteratorResult<T, undefined>) => void) | undefined;

  constructor(messages: AsyncIterable<T>) {
    this.#messages = messages[Symbol.asyncIterator]();
  }

  cut(): void {
    this.#isCut = true;
    if (this.#answer) this.#end(this.#answer);
  }

  /**
   * Throws unavailable if the method did not read all of the client's messages, although its
   * responses look complete.
   */
  throwIfCut(): void {
    if (!this.#wasCutShort) return;
    throw shuttingDown("stream");
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return { next: () => this.#next() };
  }

  #next(): Promise<IteratorResult<T>> {
    // Promise.race with a shared promise would keep every message of a long stream in memory.
    return new Promise((resolve, reject) => {
      if (this.#isCut && !this.#hasEnded) {
        this.#end(resolve);
        return;
      }
      this.#answer = resolve;
      this.#messages.next().then((result) => {
        this.#answer = undefined;
        this.#hasEnded ||= result.done === true;
        resolve(result);
      }, reject);
    });
  }

  #end(answer: (result: IteratorResult<T, undefined>) => void): void {
    this.#wasCutShort = true;
    answer({ done: true, value: undefined });
  }
}
