import type { CallContext } from "./call-context.ts";
import { clientGone } from "./client-gone.ts";
import { isClosed, type HttpRequest, type HttpResponse } from "./http.ts";
import { shuttingDown } from "./shutting-down.ts";

/**
 * Tracks the calls in flight. Each call is aborted when its client closes the request, or at
 * shutdown.
 */
export class OpenCalls {
  readonly #shutdown: AbortSignal;
  readonly #calls = new Set<CallContext>();

  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown;
    shutdown.addEventListener("abort", () => {
      for (const call of this.#calls) call.abort(shuttingDown("call"));
    });
  }

  /** Adds a call. Disposing of the result removes the call. */
  add(call: CallContext, request: HttpRequest, response: HttpResponse): Disposable {
    const onClose = () => {
      if (!response.writableEnded) call.abort(clientGone());
    };
    response.on("close", onClose);
    if (request.aborted || isClosed(response)) call.abort(clientGone());
    if (this.#shutdown.aborted) call.abort(shuttingDown("call"));
    this.#calls.add(call);
    return {
      [Symbol.dispose]: () => {
        this.#calls.delete(call);
        response.off("close", onClose);
      },
    };
  }
}
