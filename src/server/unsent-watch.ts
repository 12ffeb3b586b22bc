import type { Socket } from "node:net";
import { constants, type ServerHttp2Stream } from "node:http2";

export interface UnsentLimits {
  /**
   * A caller that takes nothing for this long is let go; the larger a part that waits for it, the
   * longer.
   */
  readonly unsentMsMax: number;
  /** What a part that waits for its caller is given in time, beyond unsentMsMax. */
  readonly bytesPerSecondMin: number;
}

export const unsentLimits: UnsentLimits = { unsentMsMax: 30_000, bytesPerSecondMin: 16 << 10 };

/** Something that sends to a caller. */
interface Sender {
  /** Bytes that wait for the caller. */
  unsent(): number;
  /** Grows when the caller takes something. */
  taken(): number;
  /** Whether nothing of it can be sent any more, although it is not closed. */
  isDead(): boolean;
  cut(): void;
}

interface Seen {
  /** undefined while nothing waits. */
  waitsSince: number | undefined;
  taken: number;
}

/** Number of checks in unsentMsMax. */
const looks = 15;

/**
 * Lets go of callers that do not take their answers, which stay in memory for as long as they are
 * there.
 */
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

  /** A connection of HTTP/1.1 or a WebSocket. */
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
   * A stream of HTTP/2, which has a window of its own. It does not tell how much was taken: only
   * that less waits than before.
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
 * Whether the client has reset a stream with NO_ERROR, as Node's own does when its connection is
 * destroyed. Node then waits for the rest of the answer to be sent, which cannot be: the stream
 * never closes, and a connection of such streams alone is not read from any more.
 */
function isForgotten(stream: ServerHttp2Stream): boolean {
  // A stream that this side closes is still known while the rest of its answer goes out.
  return stream.closed && stream.state.state === constants.NGHTTP2_STREAM_STATE_IDLE;
}
