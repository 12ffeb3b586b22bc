import type { IncomingMessage } from "node:http";

/**
 * What one connection, and all of them together, deliver in one turn of the event loop: taking it
 * in takes some milliseconds.
 */
const turnBytesMax = 128 << 10;
const nodeTurnBytesMax = 1 << 20;

/**
 * Of the body of a refused request so much is read, one piece at a time with this long between, so
 * that its caller sees the answer.
 */
const droppedBytesMax = 1 << 20;
const dropEveryMs = 10;
/** A body that is no longer is read to its end, and its connection stays open. */
const shortBytesMax = 64 << 10;
/** How long the rest of a refused body may take. */
const droppedMsMax = 5_000;
/** When nothing more is read of it, the caller has this long to read the answer. */
const lingerMs = 500;

/** A connection that can be kept from being read. */
interface Reading {
  hold(): void;
  /** Called where something came although it is held. */
  keep(): void;
  release(): void;
}

/** How the body of one request is taken from its connection. */
export interface BodyIntake {
  /** Takes no more of it. */
  stop(): void;
  /**
   * Reads the rest at a bounded rate and drops it. Resolves when it is over, or its caller has had
   * time to read the answer.
   */
  drop(): Promise<void>;
}

const intakes = new WeakMap<object, BodyIntake>();

/** undefined: of HTTP/2, whose windows bound what comes. */
export function bodyIntakeOf(request: object): BodyIntake | undefined {
  return intakes.get(request);
}

/** Whether the rest of a refused body is short enough to be read to its end. */
export function isShortBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return Number(headers["content-length"] ?? Infinity) <= shortBytesMax;
}

/** What all connections have delivered in this turn. */
let nodeBytes = 0;

function isTurnFull(bytes: number): boolean {
  if (nodeBytes === 0) setImmediate(() => (nodeBytes = 0));
  nodeBytes += bytes;
  return nodeBytes > nodeTurnBytesMax;
}

/**
 * Takes the body of a request of HTTP/1.1 as fast as its reader wants, but no more than a share of
 * each turn of the event loop: libuv reads up to 2 MB of each socket in one turn. `admit` says of
 * each piece whether it is handed on.
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
  // Every piece comes through here, whoever reads the body and however.
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
  // Node reads on at full speed what nobody has begun to read when the answer is out.
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
    // What lies in its buffer goes, too.
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
