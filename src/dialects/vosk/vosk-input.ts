import type { DialectSocket, SocketMessage } from "../../server/dialect-socket.ts";
import { invalidArgument } from "../../std/service-error.ts";
import { finalize, type LiveInput } from "../live-input.ts";

type Item = IteratorResult<LiveInput, undefined>;
const done = { done: true, value: undefined } as const;

export interface VoskInputOptions {
  /** Called for a configuration. Throws invalid_argument. */
  readonly onConfig: (config: object) => void;
  /**
   * Called for audio that was taken, and for a reset: each is answered once. No more is read until
   * the result resolves.
   */
  readonly onDue: (what: "audio" | "reset") => Promise<void> | undefined;
}

/** The messages of a client of Vosk, as the input of a live session. */
export class VoskInput implements AsyncIterator<LiveInput, undefined> {
  readonly #messages: AsyncIterator<SocketMessage, undefined>;
  readonly #options: VoskInputOptions;
  #first: Item | undefined;
  /** Whether the last item was audio, which is taken when the next item is asked for. */
  #isAudio = false;

  constructor(socket: Pick<DialectSocket, "messages">, options: VoskInputOptions) {
    this.#messages = socket.messages;
    this.#options = options;
  }

  /** Reads up to the first audio: the configuration comes before it. */
  async begin(): Promise<void> {
    this.#first = await this.#read();
  }

  async next(): Promise<Item> {
    const answering = this.#isAudio ? this.#options.onDue("audio") : undefined;
    this.#isAudio = false;
    if (answering) await answering;
    const item = this.#first ?? (await this.#read());
    this.#first = undefined;
    this.#isAudio = item.value instanceof Uint8Array;
    return item;
  }

  async #read(): Promise<Item> {
    for (;;) {
      const message = await this.#messages.next();
      if (message.done === true) return done;
      const { data, isBinary } = message.value;
      if (isBinary) {
        if (data.length > 0) return { done: false, value: data };
        // mod_audio_fork ends its audio so. It is answered, but it is not the end.
        await this.#options.onDue("audio");
        continue;
      }
      const command = readCommand(data);
      if (command.eof) return done;
      if (command.config) this.#options.onConfig(command.config);
      if (!command.reset) continue;
      await this.#options.onDue("reset");
      return { done: false, value: finalize };
    }
  }
}

interface Command {
  readonly eof: boolean;
  readonly reset: boolean;
  readonly config: object | undefined;
}

/** Reads a text message. Members that Vosk does not know are the client's own business. */
function readCommand(data: Buffer): Command {
  try {
    const message: unknown = JSON.parse(data.toString());
    if (typeof message === "object" && message !== null) {
      const config: unknown = Reflect.get(message, "config");
      const isConfig = typeof config === "object" && config !== null;
      return {
        eof: Boolean(Reflect.get(message, "eof")),
        reset: Boolean(Reflect.get(message, "reset")),
        config: isConfig ? config : undefined,
      };
    }
  } catch {
    // The error below names what a message must be.
  }
  const description = "must be JSON with config, eof or reset, or binary audio";
  throw invalidArgument([{ field: "message", description }]);
}
