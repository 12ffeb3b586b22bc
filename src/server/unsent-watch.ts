import type { Socket } from "node:net";
import { constants, type ServerHttp2Stream } from "node:http2";

export interface UnsentLimits {
  /**
   * A client that reads nothing for this long is disconnected. If a large part waits, the client
   * has longer.
   */
  readonly unsentMsMax: number;
  /**
   * The rate that determines the extra time for a large part that waits, in addition to
   * unsentMsMax.
   */
  readonly bytesPerSecondMin: number;
}

export const unsentLimits: UnsentLimits = { unsentMsMax: 30_000, bytesPerSecondMin: 16 << 10 };

/** A connection or stream that sends to a client. */
interface Sender {
  /** The bytes that wait to be sent. */
  unsent(): number;
  /** A number that grows when the client reads. */
  taken(): number;
  /** Whether nothing more can be sent, although the sender is not closed. */
  isDead(): boolean;
  cut(): void;
}

interface Seen {
  /** When the oldest unsent bytes began to wait; undefined while nothing waits. */
  waitsSince: number | undefined;
  taken: number;
}

/** The number of checks in unsentMsMax. */
const looks = 15;

/** Disconnects clients that do not read their answers, which would stay in memory. */
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

  /** Watches a connection of HTTP/1.1 or a WebSocket. */
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
   * Watches a stream of HTTP/2, which has its own window. It does not report how much was sent,
   * only that fewer bytes wait than before.
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
 * connection is destroyed. Node then waits to send the rest of the answer, which is impossible: the
 * stream never closes, and a connection with only such streams is no longer read.
 */
function isForgotten(stream: ServerHttp2Stream): boolean {
  // A stream that was closed on this side still exists while the rest of its answer is sent.
  return stream.closed && stream.state.state === constants.NGHTTP2_STREAM_STATE_IDLE;
}
