import { WebSocket } from "ws";
import type { Chunks } from "./recording.ts";
import type { Schedule } from "./schedule.ts";
import { SentChunks } from "./sent-chunks.ts";
import { readStreamAnswer, type StreamResult } from "./stream-answer.ts";

export interface LiveStreamOptions {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The first message, which configures the stream. */
  readonly configuration: string;
  readonly chunks: Chunks;
  /** The number of chunks to send; the recording repeats if necessary. */
  readonly chunkCount: number;
  /**
   * The time between two chunks. If it is 0, chunks are sent as fast as the socket accepts them.
   */
  readonly intervalMs: number;
  /**
   * The time that the server has to open a stream, and to close it after the last message. A slower
   * server has failed.
   */
  readonly timeoutMs: number;
  readonly schedule: Schedule;
}

export interface LiveStreamEvents {
  opened(tookMs: number): void;
  /** Called when a chunk has been sent, with its delay if the stream is paced. */
  sent(lateMs: number): void;
  answered(result: StreamResult, sent: SentChunks, atMs: number): void;
}

/** How a stream ended. */
export interface LiveStreamEnd {
  /** The close code; undefined if there was no WebSocket. */
  readonly closeCode: number | undefined;
  /**
   * Why the stream failed; undefined if the server closed it with 1000 after everything was sent.
   * Failures of the same kind have the same `kind`.
   */
  readonly failure: { readonly kind: string; readonly message: string } | undefined;
  readonly closeMs: number | undefined;
}

/** The maximum number of bytes buffered in the socket of an unpaced stream. */
const unsentBytesMax = 128 << 10;
const finalize = Buffer.from('{"audioContent":""}');

/**
 * A live stream (§4.9). Opens the stream, sends the chunks at their times, finalizes it, and waits
 * until the server closes it.
 */
export class LiveStream {
  readonly #options: LiveStreamOptions;
  readonly #events: LiveStreamEvents;
  readonly #socket: WebSocket;
  readonly #sent: SentChunks;
  readonly #ended = Promise.withResolvers<LiveStreamEnd>();
  #failure: LiveStreamEnd["failure"];
  #isOpen = false;
  #timeout: NodeJS.Timeout;

  constructor(options: LiveStreamOptions, events: LiveStreamEvents) {
    this.#options = options;
    this.#events = events;
    this.#sent = new SentChunks(options.chunks);
    const startedAt = performance.now();
    this.#socket = new WebSocket(options.url, [...options.protocols], {
      headers: { ...options.headers },
      perMessageDeflate: false,
    });
    this.#timeout = this.#limit("open");
    this.#socket.on("open", () => {
      clearTimeout(this.#timeout);
      this.#isOpen = true;
      events.opened(performance.now() - startedAt);
      this.#begin();
    });
    this.#socket.on("message", (data: Buffer, isBinary) => {
      this.#answer(isBinary ? "" : data.toString());
    });
    this.#socket.on("unexpected-response", (request, { statusCode }) => {
      const message = `the server answered HTTP ${statusCode} instead of a WebSocket`;
      this.#fail(`HTTP ${statusCode}`, message);
      request.destroy();
      this.#end(undefined);
    });
    this.#socket.on("error", (error) => {
      const kind = "code" in error && typeof error.code === "string" ? error.code : error.message;
      this.#fail(kind, error.message || kind);
      if (!this.#isOpen) this.#end(undefined);
    });
    this.#socket.on("close", (code) => {
      this.#end(this.#isOpen ? code : undefined);
    });
  }

  /** Resolves when the stream has ended; never rejects. */
  get ended(): Promise<LiveStreamEnd> {
    return this.#ended.promise;
  }

  #begin(): void {
    const { configuration, intervalMs, schedule } = this.#options;
    this.#socket.send(configuration);
    if (intervalMs === 0) this.#pour();
    else schedule.at(performance.now() + intervalMs, this.#step);
  }

  /** Sends a chunk at the moment at which a microphone would have recorded it. */
  readonly #step = (dueMs: number): void => {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#sendChunk(performance.now() - dueMs);
    if (this.#sent.count < this.#options.chunkCount) {
      this.#options.schedule.at(dueMs + this.#options.intervalMs, this.#step);
    } else this.#finalize();
  };

  /** Sends chunks as fast as the socket accepts them. */
  #pour(): void {
    while (this.#sent.count < this.#options.chunkCount) {
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      if (this.#socket.bufferedAmount >= unsentBytesMax) {
        // The chunk is sent after everything that is buffered, so when its callback runs there is
        // room again.
        this.#sendChunk(0, () => this.#pour());
        return;
      }
      this.#sendChunk(0);
    }
    this.#finalize();
  }

  #sendChunk(lateMs: number, done?: () => void): void {
    const { messages } = this.#options.chunks;
    const message = messages[this.#sent.count % messages.length] ?? finalize;
    this.#sent.sent(performance.now());
    this.#socket.send(message, { binary: false }, done);
    this.#events.sent(lateMs);
  }

  #finalize(): void {
    if (this.#sent.finalizedAt !== undefined) return;
    this.#sent.finalized(performance.now());
    this.#socket.send(finalize, { binary: false });
    this.#timeout = this.#limit("close");
  }

  #answer(text: string): void {
    const atMs = performance.now();
    const answer = readStreamAnswer(text);
    if (!answer) {
      this.#fail("unreadable message", "received a message that is not in the specification");
      return;
    }
    if (answer.error) {
      const { code, message } = answer.error;
      this.#fail(`error ${code}`, message);
    }
    for (const result of answer.results) this.#events.answered(result, this.#sent, atMs);
  }

  #limit(what: "open" | "close"): NodeJS.Timeout {
    const { timeoutMs } = this.#options;
    return setTimeout(() => {
      this.#fail(`no ${what}`, `the server did not ${what} the stream within ${timeoutMs} ms`);
      this.#socket.terminate();
    }, timeoutMs);
  }

  /** Records a failure. The first error determines why the stream failed. */
  #fail(kind: string, message: string): void {
    this.#failure ??= { kind, message };
  }

  #end(closeCode: number | undefined): void {
    clearTimeout(this.#timeout);
    const { finalizedAt } = this.#sent;
    if (closeCode !== 1000) {
      this.#fail(`close ${closeCode}`, `the server closed with ${closeCode}`);
    } else if (finalizedAt === undefined) {
      this.#fail("closed early", "the server closed with 1000 before everything was sent");
    }
    const closeMs = finalizedAt === undefined ? undefined : performance.now() - finalizedAt;
    this.#ended.resolve({ closeCode, failure: this.#failure, closeMs });
  }
}
