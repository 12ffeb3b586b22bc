import { once } from "node:events";
import type { Socket } from "node:net";
import { clientGone } from "../../server/client-gone.ts";
import { closeGraceMs } from "../../server/http.ts";
import { MessageQueue } from "../../server/message-queue.ts";
import { shuttingDown } from "../../server/shutting-down.ts";
import { TinyChunks, tinyChunks } from "../../server/tiny-chunks.ts";
import { ServiceError } from "../../std/service-error.ts";
import { EventParser, type WyomingItem } from "./event-parser.ts";
import { writeEvent } from "./write-event.ts";

/** The maximum size of what waits to be read. Above this limit, the socket is paused. */
const waitingBytesMax = 256 << 10;

/** A connection over which events are exchanged. */
export class EventSocket {
  readonly #socket: Socket;
  readonly #idleMsMax: number;
  readonly #items: MessageQueue<WyomingItem>;
  readonly #ended = new AbortController();
  readonly #idle: NodeJS.Timeout;
  #isWaiting = false;
  /** What is wrong with the bytes after the last item. */
  #broken: unknown;
  #hasStop = false;
  #isHalfClosed = false;
  #needsAudio = false;
  #isSilent = true;

  /** A connection whose next event takes longer than `idleMsMax` is closed. */
  constructor(socket: Socket, idleMsMax: number) {
    this.#socket = socket;
    this.#idleMsMax = idleMsMax;
    this.#items = new MessageQueue(socket, waitingBytesMax);
    this.#idle = setTimeout(() => this.#onIdle(), idleMsMax);
    this.#listen();
  }

  get address(): string {
    return this.#socket.remoteAddress ?? "";
  }

  /** Whether the client has sent nothing yet. */
  get isSilent(): boolean {
    return this.#isSilent && !this.#ended.signal.aborted;
  }

  /** Aborts with the reason when the connection ends. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Returns the next item. Throws the reason if the connection has ended for another one. */
  async next(): Promise<IteratorResult<WyomingItem, undefined>> {
    this.#isWaiting = true;
    this.#idle.refresh();
    const item = await this.#items.next();
    this.#isWaiting = false;
    if (item.done === true && this.#broken !== undefined) throw this.#broken;
    return item;
  }

  /** From now on, a client that disconnects before audio-stop needs no answer. */
  beginAudio(): void {
    this.#needsAudio = true;
    if (this.#isCut()) this.end(clientGone());
    this.#ended.signal.throwIfAborted();
  }

  /** Writes an event. Waits for a client that does not read. */
  async send(type: string, data?: object): Promise<void> {
    if (!this.#socket.writable || this.#socket.write(writeEvent(type, data))) return;
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(this.#idleMsMax)]);
    await once(this.#socket, "drain", { signal }).catch(() => {
      throw clientGone();
    });
  }

  /** Ends the connection for this reason: items that wait are not read. */
  end(reason: ServiceError): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort(reason);
    this.#items.fail(reason);
  }

  /** Closes the connection unless a transcription is in progress, after which it closes anyway. */
  retire(): void {
    if (!this.#needsAudio) this.#items.end();
  }

  /**
   * Ends a transcription whose audio is incomplete with an error, since a command without its end
   * may mean something else. Others are finished, and their connection is closed.
   */
  drain(): void {
    if (this.#needsAudio && !this.#hasStop) this.end(shuttingDown("stream"));
    else this.#items.end();
  }

  /** Closes the connection once what was written is sent. */
  async close(): Promise<void> {
    this.#ended.abort(clientGone());
    clearTimeout(this.#idle);
    await this.#items.return();
    this.#socket.end();
    // The client may still send. Unread bytes would reset the connection, and it would lose what
    // was written.
    this.#socket.resume();
    const timer = setTimeout(() => this.#socket.destroy(), closeGraceMs);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  /** Closes the connection immediately. */
  destroy(): void {
    this.#socket.destroy();
  }

  #listen(): void {
    const parser = new EventParser();
    const pieces = new TinyChunks();
    this.#socket.on("data", (bytes: Buffer) => {
      this.#isSilent = false;
      if (this.#items.isEnded) return;
      try {
        for (const item of parser.push(bytes)) {
          const size = item.kind === "payload" ? item.bytes.length : item.size;
          if (pieces.areTiny(size)) throw tinyChunks();
          if (item.kind === "event" && item.type === "audio-stop") this.#hasStop = true;
          this.#items.push(item, size);
        }
      } catch (error) {
        this.#broken = error;
        this.#items.end();
      }
    });
    this.#socket.on("end", () => {
      this.#isHalfClosed = true;
      if (this.#needsAudio && this.#isCut()) this.end(clientGone());
      else this.#items.end();
    });
    this.#socket.on("error", () => this.#socket.destroy());
    this.#socket.on("close", () => this.end(clientGone()));
  }

  /** Whether the client has left before the end of its audio. */
  #isCut(): boolean {
    return this.#isHalfClosed && !this.#hasStop;
  }

  #onIdle(): void {
    if (!this.#isWaiting) return;
    const text = `no event for ${this.#idleMsMax / 1000} s`;
    this.end(new ServiceError("deadline_exceeded", text, { reason: "IDLE" }));
  }
}
