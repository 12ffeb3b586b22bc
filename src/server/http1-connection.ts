import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import { answerFailure } from "./http.ts";
import { takeBodyInTurns, type BodyIntake } from "./body-intake.ts";

/**
 * Requests that may wait behind the one that is being answered; programs that pipeline send a few.
 */
export const pipelinedMax = 16;

/**
 * A connection of HTTP/1.1: one request is answered at a time, and no body is read faster than the
 * node can take it.
 */
export class Http1Connection {
  readonly #socket: Socket;
  readonly #pieces = new TinyChunks();
  /** Requests that came before the one ahead of them was answered. */
  readonly #waiting: (() => void)[] = [];
  #isAnswering = false;
  #isUpgraded = false;
  /** Why the socket is not read. */
  #holds = 0;
  #latest: IncomingMessage | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    // A request whose body is being read resumes the socket; Node does the same to preserve a pause
    // of its own.
    socket.on("resume", () => {
      this.keep();
    });
  }

  /** A socket that is upgraded is read by another protocol. */
  upgrade(): void {
    this.#isUpgraded = true;
  }

  /** Calls `begin` when it is the request's turn: at once, where none is being answered. */
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

  /** Reads no more from the socket until it is released as often. */
  hold(): void {
    this.#holds += 1;
    this.keep();
  }

  /** Something came although the socket is held: a read that was under way has it read on. */
  keep(): void {
    if (this.#holds === 0 || this.#isUpgraded) return;
    // Node's server stops reading where a socket says that it pauses, which one that is paused says
    // no more.
    if (this.#socket.isPaused()) this.#socket.emit("pause");
    else this.#socket.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0 || this.#isUpgraded || this.#socket.destroyed) return;
    // A body that is not taken holds the socket by itself, and resumes it when it is.
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

/** Whether anything may follow the headers (RFC 9112, section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Has the parser of a socket that is being closed leave what follows in the same read: some
 * thousand requests may stand there. Node has no call for it; returning 2, as for an upgrade, ends
 * the reading.
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
