import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import { answerFailure } from "./http.ts";
import { takeBodyInTurns, type BodyIntake } from "./body-intake.ts";

/**
 * The number of requests that may wait behind the one that is being answered. Clients that pipeline
 * send a few.
 */
export const pipelinedMax = 16;

/**
 * A connection of HTTP/1.1. Its requests are answered one at a time, and no body is read faster
 * than the node can process it.
 */
export class Http1Connection {
  readonly #socket: Socket;
  readonly #pieces = new TinyChunks();
  /** The starts of requests that wait until the request before them is answered. */
  readonly #waiting: (() => void)[] = [];
  #isAnswering = false;
  #isUpgraded = false;
  /** The reasons for which the socket is paused. */
  #holds = 0;
  #latest: IncomingMessage | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Reading a body resumes the socket, so it is paused again. Node replaces resume() for the same
    // purpose, for pauses of its own.
    socket.on("resume", () => {
      this.keep();
    });
  }

  /** After an upgrade another protocol reads the socket. */
  upgrade(): void {
    this.#isUpgraded = true;
  }

  /**
   * Calls `begin` when it is the request's turn: immediately if no other request is being answered.
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

  /** Pauses the socket until release() was called as often as hold(). */
  hold(): void {
    this.#holds += 1;
    this.keep();
  }

  /**
   * Keeps the pause when data arrived in spite of it: a read that was in progress has resumed the
   * socket.
   */
  keep(): void {
    if (this.#holds === 0 || this.#isUpgraded) return;
    // Node's server stops reading when the socket emits "pause", which a paused socket does not
    // emit again.
    if (this.#socket.isPaused()) this.#socket.emit("pause");
    else this.#socket.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0 || this.#isUpgraded || this.#socket.destroyed) return;
    // An unread body pauses the socket by itself, and resumes it when it is read.
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

/** Whether a body may follow the headers (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Makes the parser of a socket that is being closed skip the rest of the current read, which may
 * contain a thousand requests. Node has no call for this; returning 2, as for an upgrade, stops the
 * parser.
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
