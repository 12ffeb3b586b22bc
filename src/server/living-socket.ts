import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { closeGraceMs } from "./http.ts";
import type { Living } from "./heartbeat.ts";

/** Above this size of waiting messages, the sender waits until they are sent. */
const unsentBytesMax = 256 << 10;
/** A client that reads nothing for this long is disconnected. */
const unsentMsMax = 30_000;

/** An open WebSocket whose client must show signs of life: messages, or answers to pings. */
export class LivingSocket implements Living {
  readonly #socket: WebSocket;
  readonly #raw: Duplex;
  #missedPongs = 0;
  #isGathering = false;

  /** `raw` is the underlying connection of the socket. */
  constructor(socket: WebSocket, raw: Duplex) {
    this.#socket = socket;
    this.#raw = raw;
    const onLife = (): void => {
      this.#missedPongs = 0;
    };
    socket.on("message", onLife).on("pong", onLife);
  }

  /** Sends a ping. A client that misses three pings is disconnected. */
  beat(): void {
    // While the socket is paused, pongs are not read either.
    if (!this.#socket.isPaused) this.#missedPongs += 1;
    if (this.#missedPongs > 2) this.#socket.terminate();
    else this.#socket.ping();
  }

  /**
   * Sends a message. Returns a promise only if too much data waits to be sent. The promise resolves
   * when all of that data has been sent to the client.
   */
  send(text: string): Promise<void> | undefined {
    this.#gather();
    this.#socket.send(text);
    return this.#socket.bufferedAmount <= unsentBytesMax ? undefined : this.#sent();
  }

  /**
   * Sends the messages of one turn of the event loop in one call of the system: a client that sends
   * faster than real time gets several at once.
   */
  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#raw.cork();
    process.nextTick(() => {
      this.#isGathering = false;
      this.#raw.uncork();
    });
  }

  close(code: number, reason = ""): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(code, reason);
  }

  /** Closes the socket. A client that does not close its side is disconnected. */
  closeSoon(code: number, reason = ""): void {
    this.close(code, reason);
    // The client's close frame must be read, even if the socket was paused.
    this.#socket.resume();
    const timer = setTimeout(() => {
      this.#socket.terminate();
    }, closeGraceMs);
    this.#socket.once("close", () => {
      clearTimeout(timer);
    });
  }

  async #sent(): Promise<void> {
    const timer = setTimeout(() => {
      this.#socket.terminate();
    }, unsentMsMax);
    // A ping is sent after all waiting data, so its callback means that all of the data was sent.
    await new Promise<void>((resolve) => {
      this.#socket.ping("", false, () => {
        resolve();
      });
    });
    clearTimeout(timer);
  }
}
