import type { IncomingMessage } from "node:http";

/**
 * The number of bytes that one connection may deliver in one turn of the event loop, followed by
 * the number for all connections together. Processing them takes some milliseconds.
 */
const turnBytesMax = 128 << 10;
const nodeTurnBytesMax = 1 << 20;

/**
 * A refused request is read in chunks of this size, with a pause between them, so that its client
 * receives the response.
 */
const droppedBytesMax = 1 << 20;
const dropEveryMs = 10;
/** A body below this size is read to its end, and its connection stays open. */
const shortBytesMax = 64 << 10;
/** The maximum time for reading the rest of a refused body. */
const droppedMsMax = 5_000;
/** How long the client can read the response after the server has stopped reading the request. */
const lingerMs = 500;

/** A connection from which reading can be paused. */
interface Reading {
  hold(): void;
  /** Called when data has arrived although reading is paused. */
  keep(): void;
  release(): void;
}

/** Controls how the body of one request is read from its connection. */
export interface BodyIntake {
  /** Stops reading. */
  stop(): void;
  /**
   * Reads the rest at a bounded rate and discards it. Resolves at the end of the body, or when the
   * client has had time to read the response.
   */
  drop(): Promise<void>;
}

const intakes = new WeakMap<object, BodyIntake>();

/**
 * Returns the intake of a request's body. Returns undefined for HTTP/2, where flow control bounds
 * the rate.
 */
export function bodyIntakeOf(request: object): BodyIntake | undefined {
  return intakes.get(request);
}

/** Returns whether the rest of a refused body is short enough to be read to its end. */
export function isShortBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return Number(headers["content-length"] ?? Infinity) <= shortBytesMax;
}

/** The number of bytes that all connections have delivered in this turn of the event loop. */
let nodeBytes = 0;

function isTurnFull(bytes: number): boolean {
  if (nodeBytes === 0) setImmediate(() => (nodeBytes = 0));
  nodeBytes += bytes;
  return nodeBytes > nodeTurnBytesMax;
}

/**
 * Reads the body of an HTTP/1.1 request as fast as its reader does, but only a bounded part in each
 * turn of the event loop. libuv itself reads up to 2 MB from each socket in one turn. `admit`
 * decides for each chunk whether it is passed on.
 */
export function takeBodyInTurns(
  request: IncomingMessage,
  reading: Reading,
  admit: (bytes: number) => boolean,
): BodyIntake {
  const push = request.push.bind(request);
  const dropped = new DroppedBody(request, reading);
  let bytes = 0;
  let isHeld = false;
  const holdForTurn = (): void => {
    isHeld = true;
    reading.hold();
    setImmediate(() => {
      isHeld = false;
      bytes = 0;
      reading.release();
    });
  };
  // Every chunk passes through here, no matter how the body is read.
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) return push(null);
    reading.keep();
    if (dropped.isDropping) {
      dropped.add(chunk.length);
      return true;
    }
    if (!admit(chunk.length)) return true;
    bytes += chunk.length;
    const isFull = isTurnFull(chunk.length) || bytes >= turnBytesMax;
    if (isFull && !isHeld) holdForTurn();
    return push(chunk);
  };
  // Node reads the rest at full speed if the body was unread when the response was sent.
  request.read(0);
  intakes.set(request, dropped);
  return dropped;
}

class DroppedBody implements BodyIntake {
  readonly #request: IncomingMessage;
  readonly #reading: Reading;
  readonly #over = Promise.withResolvers<void>();
  #bytes = 0;
  #isHeld = false;
  #isStopped = false;
  isDropping = false;

  constructor(request: IncomingMessage, reading: Reading) {
    this.#request = request;
    this.#reading = reading;
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.isDropping = true;
    this.#reading.hold();
    this.#endAfter(lingerMs);
  }

  drop(): Promise<void> {
    if (!this.#isStopped && !this.isDropping) {
      this.isDropping = true;
      this.#endAfter(droppedMsMax);
    }
    // This also discards the bytes in the request's buffer.
    this.#request.resume();
    this.#request.once("end", this.#over.resolve).once("close", this.#over.resolve);
    return this.#over.promise;
  }

  add(bytes: number): void {
    if (this.#isStopped) return;
    this.#bytes += bytes;
    if (this.#bytes > droppedBytesMax) {
      this.stop();
      return;
    }
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#reading.hold();
    setTimeout(() => {
      this.#isHeld = false;
      this.#reading.release();
    }, dropEveryMs);
  }

  #endAfter(ms: number): void {
    const timer = setTimeout(this.#over.resolve, ms).unref();
    this.#request.once("close", () => {
      clearTimeout(timer);
    });
  }
}
