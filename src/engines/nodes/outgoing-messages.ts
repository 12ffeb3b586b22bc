/**
 * How long frames wait for more before they are sent in a message. A message costs far more CPU
 * than a write to a pipe, and the network adds as much latency anyway.
 */
const gatherMs = 8;
/** A message is sent at once when it has this many bytes. */
const gatherBytesMax = 256 << 10;
/** The bytes that may wait for the connection. A connection that is slower is given up. */
const waitingBytesMax = 64 << 20;

/** The room for the first frames of a message. */
const blockBytes = 32 << 10;

/** The frames of a process that wait to be sent, in one block of memory. */
class GatheredFrames {
  #block = new Uint8Array(blockBytes);
  #filled = 0;

  add(bytes: Uint8Array): void {
    const end = this.#filled + bytes.length;
    if (end > this.#block.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#block.length));
      larger.set(this.bytes);
      this.#block = larger;
    }
    this.#block.set(bytes, this.#filled);
    this.#filled = end;
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#block.subarray(0, this.#filled);
  }
}

/**
 * The messages of one direction of a connection, to be read once, in order. Frames are gathered for
 * some milliseconds, in one message for each process.
 */
export class OutgoingMessages<Message> implements AsyncIterable<Message> {
  readonly #wrap: (process: number, frames: Uint8Array<ArrayBuffer>) => Message;
  #messages: Message[] = [];
  #frames = new Map<number, GatheredFrames>();
  #frameBytes = 0;
  /** The bytes of the messages that wait, apart from gathered frames. */
  #waitingBytes = 0;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;
  #wake: (() => void) | undefined;
  #end: { readonly error?: unknown } | undefined;

  /** `wrap` creates the message of the frames of a process. */
  constructor(wrap: (process: number, frames: Uint8Array<ArrayBuffer>) => Message) {
    this.#wrap = wrap;
  }

  /** Sends a message after all earlier frames. */
  push(message: Message): void {
    if (this.#end) return;
    this.#flush();
    this.#messages.push(message);
    this.#wakeReader();
  }

  /** Sends frames of a process. The caller may reuse `bytes` immediately. */
  frames(process: number, bytes: Uint8Array): void {
    if (this.#end) return;
    if (this.#waitingBytes + this.#frameBytes > waitingBytesMax) {
      this.end(new Error("the connection is too slow for what is sent"));
      return;
    }
    let gathered = this.#frames.get(process);
    if (!gathered) this.#frames.set(process, (gathered = new GatheredFrames()));
    gathered.add(bytes);
    this.#frameBytes += bytes.length;
    if (this.#frameBytes >= gatherBytesMax) this.#due();
    else this.#timer ??= setTimeout(this.#due, gatherMs);
  }

  readonly #due = (): void => {
    this.#isDue = true;
    this.#wakeReader();
  };

  /** Ends the messages after those that wait, or at once with an error. */
  end(error?: unknown): void {
    if (this.#end) return;
    this.#flush();
    this.#end = error === undefined ? {} : { error };
    if (error !== undefined) this.#messages = [];
    this.#wakeReader();
  }

  /** Makes messages of the gathered frames. */
  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
    if (this.#frameBytes === 0) return;
    for (const [process, { bytes }] of this.#frames) {
      this.#messages.push(this.#wrap(process, bytes));
    }
    this.#waitingBytes += this.#frameBytes;
    this.#frames.clear();
    this.#frameBytes = 0;
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    for (;;) {
      // Frames are gathered for as long as earlier messages are being sent.
      if (this.#messages.length === 0 && this.#isDue) this.#flush();
      const messages = this.#messages;
      this.#messages = [];
      this.#waitingBytes = 0;
      // Unlike yield*, this also ends if the reader throws an error into the generator.
      for (const message of messages) yield message;
      if (this.#messages.length > 0 || this.#isDue) continue;
      if (this.#end) {
        if ("error" in this.#end) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
