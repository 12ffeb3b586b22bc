import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { clientGone } from "./client-gone.ts";
import { countSocketBytes } from "./count-socket-bytes.ts";
import { closeGraceMs } from "./http.ts";
import type { Living } from "./heartbeat.ts";
import { LivingSocket } from "./living-socket.ts";
import { MessageQueue } from "./message-queue.ts";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";

/** The last message of a socket, and how it is closed. */
export interface SocketClose {
  readonly message?: string | undefined;
  readonly code: number;
  /** At most 123 bytes of UTF-8 are sent. */
  readonly reason?: string | undefined;
}

export interface SocketMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export interface DialectSocketParts {
  /** The underlying connection of the socket. */
  readonly raw: Duplex;
  /** Counts the memory of incomplete messages. */
  readonly share: HeldShare;
  readonly closeOf: (error: unknown) => SocketClose;
}

/** The close code while the service shuts down. */
const restarting = 1012;
/** The maximum length of the reason in a close frame (RFC 6455, section 5.5). */
const reasonBytesMax = 123;
/**
 * The maximum size of the messages that wait to be read. Above this limit, the socket is paused.
 */
const waitingBytesMax = 256 << 10;

/** An open WebSocket of a dialect: its messages in order, and the answers. */
export class DialectSocket implements Living {
  readonly #socket: WebSocket;
  readonly #closeOf: (error: unknown) => SocketClose;
  readonly #living: LivingSocket;
  readonly #messages: MessageQueue<SocketMessage>;
  readonly #ended = new AbortController();
  #isDraining = false;

  constructor(socket: WebSocket, { raw, share, closeOf }: DialectSocketParts) {
    this.#socket = socket;
    this.#closeOf = closeOf;
    this.#living = new LivingSocket(socket, raw);
    this.#messages = new MessageQueue(socket, waitingBytesMax);
    countSocketBytes(raw, share, this.#messages);
    this.#listen(raw, share);
  }

  /**
   * The messages, which end when the service shuts down. Reading them throws when the client
   * disconnects.
   */
  get messages(): AsyncIterator<SocketMessage, undefined> {
    return this.#messages;
  }

  /** Aborts when the client disconnects, and when its key is revoked. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Sends a message. Returns a promise only if too much data waits to be sent. */
  send(text: string): Promise<void> | undefined {
    return this.#living.send(text);
  }

  /** Resolves when the socket was served and its last message was sent. */
  async run(serve: () => Promise<SocketClose>): Promise<void> {
    try {
      this.#close(await serve());
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#close(this.#closeOf(error));
    } finally {
      this.#ended.abort(clientGone());
      // No more messages are read, but the client's close frame must be.
      await this.#messages.return();
      this.#socket.resume();
    }
  }

  /** Ends the socket immediately, for this reason. */
  end(reason: ServiceError): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort(reason);
    this.#messages.fail(reason);
    this.#close(this.#closeOf(reason));
  }

  /** Ends the messages as if the client had ended them. Final results are still sent. */
  drain(): void {
    this.#isDraining = true;
    this.#messages.end();
  }

  beat(): void {
    this.#living.beat();
  }

  #close({ message, code, reason = "" }: SocketClose): void {
    if (message !== undefined && this.#socket.readyState === this.#socket.OPEN) {
      this.#socket.send(message);
    }
    this.#living.closeSoon(this.#isDraining ? restarting : code, cutReason(reason));
  }

  #listen(raw: Duplex, share: HeldShare): void {
    const pieces = new TinyChunks();
    this.#socket.on("message", (data: Buffer, isBinary: boolean) => {
      share.shrink(Infinity);
      if (this.#messages.isEnded) return;
      if (pieces.areTiny(data.length)) {
        this.#messages.fail(tinyChunks());
        // The other frames of the same read are discarded.
        setTimeout(() => raw.destroy(), closeGraceMs).unref();
        return;
      }
      this.#messages.push({ data, isBinary }, data.length);
    });
    this.#socket.on("close", () => {
      this.#ended.abort(clientGone());
      this.#messages.fail(clientGone());
    });
    // ws answers a broken frame with its own close code and then emits "close".
    this.#socket.on("error", () => {
      this.#ended.abort(new ServiceError("cancelled", "the client broke the protocol"));
    });
  }
}

function cutReason(reason: string): string {
  let cut = reason;
  while (Buffer.byteLength(cut) > reasonBytesMax) cut = cut.slice(0, -1);
  return cut;
}
