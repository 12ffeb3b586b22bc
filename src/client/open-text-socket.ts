import { Code, ConnectError } from "@connectrpc/connect";

/** The maximum amount of text that may wait to be sent; above it, send() waits. */
const unsentBytesMax = 256 << 10;
/** How often a full socket is checked, because there is no event for it. */
const fullMs = 5;

/** A WebSocket that carries text in both directions. */
export interface TextSocket {
  /** Sends a text. Resolves to true when more may be sent, or to false if the socket is closed. */
  send(text: string): Promise<boolean>;
  /**
   * The received texts, in order. They end when the peer closes with 1000, and fail with
   * ConnectError for other codes.
   */
  readonly texts: AsyncIterable<string>;
  /** Fails the remaining texts with `error`, and closes the socket. */
  fail(error: unknown): void;
  close(): void;
}

/** The handshake was refused, or there was no response. WebSockets do not distinguish the two. */
export class SocketRefused extends Error {
  override readonly name = "SocketRefused";
}

/**
 * Opens a socket, in a browser or in Node. Throws SocketRefused or the reason of `signal`. Once the
 * socket is open, `signal` closes it.
 */
export async function openTextSocket(
  url: string,
  protocols: readonly string[],
  signal: AbortSignal,
): Promise<TextSocket> {
  signal.throwIfAborted();
  const socket = new WebSocket(url, [...protocols]);
  const inbox = new Inbox();
  const opened = Promise.withResolvers<void>();
  const abort = (): void => {
    const reason: unknown = signal.reason;
    opened.reject(reason);
    inbox.end(reason);
    socket.close();
  };
  signal.addEventListener("abort", abort, { once: true });
  socket.addEventListener("open", () => {
    opened.resolve();
  });
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") inbox.push(data);
    else inbox.end(new ConnectError("a binary message was received", Code.Internal));
  });
  // "error" has no details and comes before "close".
  socket.addEventListener("close", ({ code, reason }) => {
    signal.removeEventListener("abort", abort);
    opened.reject(new SocketRefused("the WebSocket could not be opened"));
    inbox.end(code === 1000 ? undefined : errorOfClose(code, reason));
  });
  await opened.promise;
  return {
    texts: inbox,
    async send(text) {
      if (socket.readyState !== socket.OPEN) return false;
      socket.send(text);
      while (socket.bufferedAmount > unsentBytesMax && socket.readyState === socket.OPEN) {
        await new Promise((resolve) => {
          setTimeout(resolve, fullMs);
        });
      }
      return socket.readyState === socket.OPEN;
    },
    fail(error) {
      inbox.end(error);
      socket.close();
    },
    close() {
      socket.close();
    },
  };
}

/** The received texts that have not been read yet, followed by the end. */
class Inbox implements AsyncIterable<string> {
  readonly #texts: string[] = [];
  #ended: { readonly error: unknown } | undefined;
  #wake = (): void => {};

  push(text: string): void {
    if (this.#ended) return;
    this.#texts.push(text);
    this.#wake();
  }

  /** Ends the texts with an error, or with undefined if they are complete. */
  end(error: unknown): void {
    this.#ended ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) yield text;
      else if (this.#ended === undefined) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else if (this.#ended.error === undefined) return;
      else throw this.#ended.error;
    }
  }
}

/** Returns the error for a close code of the service (docs/api.md, Errors) or of a proxy. */
function errorOfClose(code: number, reason: string): ConnectError {
  const [rpcCode, problem] = closes[code] ?? [Code.Unknown, "the WebSocket was closed"];
  return new ConnectError(`${problem} (${[code, reason].join(" ").trim()})`, rpcCode);
}

const closes: Readonly<Record<number, readonly [code: Code, problem: string]>> = {
  1001: [Code.Unavailable, "the service closed the connection"],
  1005: [Code.Unavailable, "the WebSocket was closed without a code"],
  1006: [Code.Unavailable, "the connection was lost"],
  1007: [Code.InvalidArgument, "the service could not read a message"],
  1008: [Code.PermissionDenied, "the service refused the stream"],
  1009: [Code.InvalidArgument, "a message was too long"],
  1011: [Code.Internal, "the service failed"],
  1012: [Code.Unavailable, "the service is restarting"],
  1013: [Code.Unavailable, "the service is busy"],
};
