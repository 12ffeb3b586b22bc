import type { DialectSocket, SocketMessage } from "../../server/dialect-socket.ts";
import { invalidArgument } from "../../std/service-error.ts";
import type { LiveInput } from "../live-input.ts";

type Item = IteratorResult<LiveInput, undefined>;
const done = { done: true, value: undefined } as const;

/** The messages of jambonz after its start, as the input of a live session: audio up to stop. */
export class JambonzInput implements AsyncIterator<LiveInput, undefined> {
  readonly #messages: AsyncIterator<SocketMessage, undefined>;

  constructor(socket: Pick<DialectSocket, "messages">) {
    this.#messages = socket.messages;
  }

  /** Waits for the start. Returns undefined if the client stops before it. Audio is discarded. */
  async start(): Promise<object | undefined> {
    for (;;) {
      const message = await this.#messages.next();
      if (message.done === true) return undefined;
      const { data, isBinary } = message.value;
      if (isBinary) continue;
      const command = readCommand(data);
      if (command.type === "start") return command;
      if (command.type === "stop") return undefined;
    }
  }

  async next(): Promise<Item> {
    for (;;) {
      const message = await this.#messages.next();
      if (message.done === true) return done;
      const { data, isBinary } = message.value;
      if (isBinary && data.length > 0) return { done: false, value: data };
      if (isBinary) continue;
      const { type } = readCommand(data);
      if (type === "stop") return done;
      if (type === "start") {
        throw invalidArgument([{ field: "type", description: "can be start only once" }]);
      }
    }
  }
}

/** Reads a text message. Types that are unknown are the client's own business. */
function readCommand(data: Buffer): { readonly type: unknown } {
  try {
    const message: unknown = JSON.parse(data.toString());
    if (typeof message === "object" && message !== null && "type" in message) return message;
  } catch {
    // The error below names what a message must be.
  }
  const description = "must be JSON with a type such as start or stop, or binary audio";
  throw invalidArgument([{ field: "message", description }]);
}
