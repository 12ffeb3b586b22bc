/**
 * How long frames wait for more before they are sent in a message. A message costs far more CPU
 * than a write to a pipe, and the network adds as much latency anyway.
 */
const gatherMs = 8;
/** A message is made at once of this many bytes. */
const gatherBytesMax = 256 << 10;
/**
 * The bytes that may wait for the connection, with those of the message that it takes. A connection
 * that is slower is given up.
 */
export const waitingBytesMax = 64 << 20;
/** What a message without frames counts as. */
export const messageBytes = 4 << 10;

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

interface Waiting<Message> {
  readonly message: Message;
  readonly bytes: number;
}

/**
 * The messages of one direction of a connection, to be read once, in order. Frames are gathered for
 * some milliseconds, in one message for each process.
 */
export class OutgoingMessages<Message> implements AsyncIterable<Message> {
  readonly #wrap: (process: number, frames: Uint8Array<ArrayBuffer>) => Message;
  #messages: Waiting<Message>[] = [];
  #frames = new Map<number, GatheredFrames>();
  #frameBytes = 0;
  /** The bytes of the messages that the connection has not taken, apart from gathered frames. */
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
    if (!this.#hasRoom(messageBytes)) return;
    this.#flush();
    this.#add(message, messageBytes);
    this.#wakeReader();
  }

  /** Sends frames of a process. The caller may reuse `bytes` immediately. */
  frames(process: number, bytes: Uint8Array): void {
    if (!this.#hasRoom(bytes.length)) return;
    let gathered = this.#frames.get(process);
    if (!gathered) this.#frames.set(process, (gathered = new GatheredFrames()));
    gathered.add(bytes);
    this.#frameBytes += bytes.length;
    if (this.#frameBytes >= gatherBytesMax) {
      this.#flush();
      this.#wakeReader();
    } else {
      this.#timer ??= setTimeout(this.#due, gatherMs);
    }
  }

  /** Returns whether this many more bytes may wait. Otherwise, the messages have ended. */
  #hasRoom(bytes: number): boolean {
    if (this.#end) return false;
    if (this.#waitingBytes + this.#frameBytes + bytes <= waitingBytesMax) return true;
    this.end(new Error("the connection is too slow for what is sent"));
    return false;
  }

  #add(message: Message, bytes: number): void {
    this.#messages.push({ message, bytes });
    this.#waitingBytes += bytes;
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
      this.#add(this.#wrap(process, bytes), bytes.length);
    }
    this.#frames.clear();
    this.#frameBytes = 0;
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    for (;;) {
      // Frames are gathered for as long as earlier messages are being sent, up to gatherBytesMax.
      if (this.#messages.length === 0 && this.#isDue) this.#flush();
      const next = this.#messages.shift();
      if (next) {
        yield next.message;
        this.#waitingBytes -= next.bytes;
        continue;
      }
      if (this.#end) {
        if ("error" in this.#end) throw this.#end.error;
        return;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
