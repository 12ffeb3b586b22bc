import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import { answerFailure } from "./answer-failure.ts";
import { takeBodyInTurns, type BodyIntake } from "./body-intake.ts";

/**
 * The maximum number of requests that may wait behind the one being handled. Clients that pipeline
 * send only a few.
 */
export const pipelinedMax = 16;

/**
 * An HTTP/1.1 connection. Its requests are handled one at a time, and no body is read faster than
 * the node can process it.
 */
export class Http1Connection {
  readonly #socket: Socket;
  readonly #pieces = new TinyChunks();
  /** The start functions of requests that wait until the previous request is answered. */
  readonly #waiting: (() => void)[] = [];
  #isAnswering = false;
  #isUpgraded = false;
  /** The number of reasons for which the socket is paused. */
  #holds = 0;
  #latest: IncomingMessage | undefined;
  readonly #keepPause = (): void => {
    this.keep();
  };

  constructor(socket: Socket) {
    this.#socket = socket;
    // Reading a body resumes the socket, so the socket is paused again. Node replaces resume() for
    // the same purpose, for its own pauses.
    socket.on("resume", this.#keepPause);
  }

  /** Stops controlling the socket, because another protocol reads it after an upgrade. */
  upgrade(): void {
    this.#isUpgraded = true;
    this.#latest = undefined;
    this.#socket.off("resume", this.#keepPause);
  }

  /**
   * Calls `begin` when it is the request's turn, or immediately if no other request is being
   * handled.
   */
  add(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    this.#latest = request;
    if (hasBody(request)) this.#watchBody(request, response);
    const start = (): void => {
      this.#isAnswering = true;
      response.once("close", () => {
        this.#isAnswering = false;
        this.#next();
      });
      begin();
    };
    if (!this.#isAnswering) {
      start();
      return;
    }
    if (this.#waiting.length === pipelinedMax) {
      this.#waiting.length = 0;
      this.#socket.destroy();
      return;
    }
    if (this.#waiting.length === 0) this.hold();
    else this.keep();
    this.#waiting.push(start);
  }

  #next(): void {
    const start = this.#waiting.shift();
    if (start === undefined || this.#socket.destroyed) return;
    if (this.#waiting.length === 0) this.release();
    start();
  }

  /** Pauses the socket until release() has been called as often as hold(). */
  hold(): void {
    this.#holds += 1;
    this.keep();
  }

  /**
   * Restores the pause when data has arrived despite it: a read that was in progress has resumed
   * the socket.
   */
  keep(): void {
    if (this.#holds === 0 || this.#isUpgraded) return;
    // Node's server stops reading when the socket emits "pause". A socket that is already paused
    // does not emit "pause" again.
    if (this.#socket.isPaused()) this.#socket.emit("pause");
    else this.#socket.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0 || this.#isUpgraded || this.#socket.destroyed) return;
    // An unread body pauses the socket by itself, and resumes the socket when it is read.
    const latest = this.#latest;
    const isFull =
      latest &&
      !latest.complete &&
      !latest.destroyed &&
      latest.readableLength >= latest.readableHighWaterMark;
    if (!isFull) this.#socket.resume();
  }

  #watchBody(request: IncomingMessage, response: ServerResponse): void {
    const ofBody = this.#pieces.ofBody();
    const intake: BodyIntake = takeBodyInTurns(request, this, (bytes) => {
      if (!ofBody(bytes)) return true;
      intake.stop();
      answerFailure(response, tinyChunks());
      return false;
    });
  }
}

/** Returns whether a body may follow the headers (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Makes the parser of a socket that is being closed skip the rest of the current read, which may
 * contain a thousand requests. Node has no method for this. Returning 2, as for an upgrade, stops
 * the parser.
 */
export function stopParsingWhenClosed(socket: Socket): void {
  const parser: unknown = Reflect.get(socket, "parser");
  if (typeof parser !== "object" || parser === null) return;
  const onIncoming: unknown = Reflect.get(parser, "onIncoming");
  if (typeof onIncoming !== "function") return;
  Reflect.set(parser, "onIncoming", (...facts: unknown[]): unknown =>
    socket.destroyed ? 2 : Reflect.apply(onIncoming, parser, facts),
  );
}
