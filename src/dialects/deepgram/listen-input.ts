import { createHash, type Hash } from "node:crypto";
import type { DialectSocket, SocketMessage } from "../../server/dialect-socket.ts";
import { invalidArgument } from "../../std/service-error.ts";
import { finalize, type LiveInput } from "../live-input.ts";

export interface ListenInputOptions {
  /** A socket without audio and messages for this long is closed. */
  readonly idleMsMax: number;
  /** Called for audio, before it is recognized. */
  readonly onAudio: () => void;
}

type Item = IteratorResult<LiveInput, undefined>;
const done = { done: true, value: undefined } as const;

/** The messages of a client of Deepgram, as the input of a live session. */
export class ListenInput implements AsyncIterator<LiveInput, undefined> {
  readonly #messages: AsyncIterator<SocketMessage, undefined>;
  readonly #options: ListenInputOptions;
  readonly #hash: Hash = createHash("sha256");
  readonly #idle: NodeJS.Timeout;
  #wait: ((item: Item) => void) | undefined;
  #isIdle = false;
  #finalizes = 0;

  constructor(socket: Pick<DialectSocket, "messages">, options: ListenInputOptions) {
    this.#messages = socket.messages;
    this.#options = options;
    this.#idle = setTimeout(() => this.#onIdle(), options.idleMsMax);
  }

  /** The number of Finalize messages that were read. */
  get finalizes(): number {
    return this.#finalizes;
  }

  /** Whether the input ended because the client sent nothing. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Returns the hash of the audio, once. */
  sha256(): string {
    return this.#hash.digest("hex");
  }

  next(): Promise<Item> {
    return new Promise((resolve, reject) => {
      this.#wait = resolve;
      this.#read(resolve, reject);
    });
  }

  #read(resolve: (item: Item) => void, reject: (error: unknown) => void): void {
    this.#messages.next().then(
      (message) => {
        if (this.#isIdle) return;
        try {
          const item = message.done === true ? done : this.#itemOf(message.value);
          if (item) this.#settle(resolve, item);
          else this.#read(resolve, reject);
        } catch (error) {
          reject(error);
        }
      },
      (error: unknown) => reject(error),
    );
  }

  #settle(resolve: (item: Item) => void, item: Item): void {
    this.#wait = undefined;
    resolve(item);
  }

  /** Returns what a message means; undefined if it only shows that the client is there. */
  #itemOf({ data, isBinary }: SocketMessage): Item | undefined {
    this.#idle.refresh();
    if (isBinary) {
      // Older clients end a stream with an empty message.
      if (data.length === 0) return done;
      this.#hash.update(data);
      this.#options.onAudio();
      return { done: false, value: data };
    }
    switch (typeOf(data)) {
      case "CloseStream":
        return done;
      case "Finalize":
        this.#finalizes += 1;
        return { done: false, value: finalize };
      default:
        // KeepAlive, and what newer clients may send.
        return undefined;
    }
  }

  #onIdle(): void {
    if (!this.#wait) {
      // The client has sent more than was recognized.
      this.#idle.refresh();
      return;
    }
    this.#isIdle = true;
    this.#settle(this.#wait, done);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
  }
}

function typeOf(data: Buffer): unknown {
  try {
    const message: unknown = JSON.parse(data.toString());
    if (typeof message === "object" && message !== null && "type" in message) return message.type;
  } catch {
    // The error below names what a message must be.
  }
  const description = 'must be binary audio, or JSON with a "type" such as KeepAlive';
  throw invalidArgument([{ field: "message", description }]);
}
