import type { Socket } from "node:net";
import { constants, type ServerHttp2Stream } from "node:http2";

export interface UnsentLimits {
  /**
   * A client that reads nothing for this long is disconnected. The client has more time if a large
   * amount of data waits.
   */
  readonly unsentMsMax: number;
  /**
   * The rate that determines the extra time, in addition to unsentMsMax, if a large amount of data
   * waits.
   */
  readonly bytesPerSecondMin: number;
}

export const unsentLimits: UnsentLimits = { unsentMsMax: 30_000, bytesPerSecondMin: 16 << 10 };

/** A connection or stream that sends to a client. */
interface Sender {
  /** The number of bytes that wait to be sent. */
  unsent(): number;
  /** A number that grows when the client reads. */
  taken(): number;
  /** Whether no more data can be sent although the sender is not closed. */
  isDead(): boolean;
  cut(): void;
}

interface Seen {
  /** The time at which the oldest unsent bytes began to wait; undefined if nothing waits. */
  waitsSince: number | undefined;
  taken: number;
}

/** The number of checks during unsentMsMax. */
const looks = 15;

/** Disconnects clients that do not read their responses, since unread responses stay in memory. */
export class UnsentWatch implements Disposable {
  readonly #limits: UnsentLimits;
  readonly #senders = new Map<Sender, Seen>();
  readonly #timer: NodeJS.Timeout;

  constructor(limits: UnsentLimits) {
    this.#limits = limits;
    this.#timer = setInterval(() => {
      this.#look();
    }, limits.unsentMsMax / looks);
    this.#timer.unref();
  }

  /** Watches an HTTP/1.1 or WebSocket connection. */
  watchSocket(socket: Socket): void {
    this.#watch(socket, {
      unsent: () => socket.writableLength,
      taken: () => socket.bytesWritten - socket.writableLength,
      isDead: () => false,
      cut: () => {
        socket.destroy();
      },
    });
  }

  /**
   * Watches an HTTP/2 stream, which has its own window. The stream does not report how much was
   * sent, only that fewer bytes wait than before.
   */
  watchStream(stream: ServerHttp2Stream, cut: () => void): void {
    let [before, taken] = [0, 0];
    stream.on("drain", () => {
      taken += 1;
    });
    this.#watch(stream, {
      unsent: () => stream.writableLength,
      taken: () => {
        if (stream.writableLength < before) taken += 1;
        before = stream.writableLength;
        return taken;
      },
      isDead: () => isForgotten(stream),
      cut: () => {
        if (isForgotten(stream)) stream.destroy();
        else cut();
      },
    });
  }

  #watch(emitter: Socket | ServerHttp2Stream, sender: Sender): void {
    this.#senders.set(sender, { waitsSince: undefined, taken: 0 });
    emitter.once("close", () => this.#senders.delete(sender));
  }

  #look(): void {
    const { unsentMsMax, bytesPerSecondMin } = this.#limits;
    const now = performance.now();
    for (const [sender, seen] of this.#senders) {
      const unsent = sender.unsent();
      const taken = unsent === 0 ? 0 : sender.taken();
      if (unsent === 0) seen.waitsSince = undefined;
      else if (sender.isDead()) sender.cut();
      else if (seen.waitsSince === undefined || taken !== seen.taken) seen.waitsSince = now;
      else if (now - seen.waitsSince > unsentMsMax + (unsent / bytesPerSecondMin) * 1000)
        sender.cut();
      seen.taken = taken;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * Whether the client has reset a stream with NO_ERROR, as Node's own client does when its
 * connection is destroyed. Node then waits to send the rest of the response, which is impossible.
 * The stream never closes, and a connection with only such streams is no longer read.
 */
function isForgotten(stream: ServerHttp2Stream): boolean {
  // A stream that was closed on this side still exists while the rest of its response is sent.
  return stream.closed && stream.state.state === constants.NGHTTP2_STREAM_STATE_IDLE;
}
