import { Http2ServerResponse } from "node:http2";
import { isClosed, type HttpResponse } from "./http.ts";

/**
 * Tracks the calls in flight of a port, and whether each response is the last one on its
 * connection.
 */
export class CallsInFlight {
  readonly #open = new Set<HttpResponse>();
  #areLast = false;

  add(response: HttpResponse): void {
    this.#open.add(response);
    response.once("close", () => {
      this.#open.delete(response);
    });
    if (this.#areLast) sayLast(response);
  }

  /** The number of calls in flight. */
  get count(): number {
    return this.#open.size;
  }

  /**
   * Makes each response that has not begun the last one on its connection. Resolves when the calls
   * in flight have ended.
   */
  async end(): Promise<void> {
    this.#areLast = true;
    const open = [...this.#open].filter((response) => !isClosed(response));
    for (const response of open) sayLast(response);
    await Promise.all(
      open.map(
        (response) =>
          new Promise<void>((resolve) => {
            response.once("close", () => {
              resolve();
            });
          }),
      ),
    );
  }
}

/** Sets Connection: close (RFC 9112, section 9.6). HTTP/2 uses GOAWAY. */
function sayLast(response: HttpResponse): void {
  if (!(response instanceof Http2ServerResponse)) response.shouldKeepAlive = false;
}
