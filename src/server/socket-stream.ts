import { create, type Message } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import type { WebSocket } from "ws";
import type { ErrorCode } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";
import { statusJson, type AnswerError } from "./answer-errors.ts";
import type { CallContext } from "./call-context.ts";
import { clientGone } from "./client-gone.ts";
import { LivingSocket } from "./living-socket.ts";
import type { MessageQueue } from "./message-queue.ts";
import { socketMessages, tooBig, type MessageParts } from "./socket-messages.ts";

export type BidiSpec = Extract<MethodImplSpec, { kind: "bidi_streaming" }>;

export interface SocketStreamParts extends MessageParts {
  readonly spec: BidiSpec;
  readonly context: CallContext;
  readonly answerError: AnswerError;
  readonly write: (message: Message) => string;
}

/** An open WebSocket and the method call that it serves. */
export class SocketStream {
  readonly #socket: WebSocket;
  readonly #parts: SocketStreamParts;
  readonly #messages: MessageQueue<Message>;
  readonly #living: LivingSocket;
  #isDraining = false;

  constructor(socket: WebSocket, parts: SocketStreamParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#messages = socketMessages(socket, parts);
    this.#living = new LivingSocket(socket, parts.raw);
    this.#listen();
  }

  /** Resolves when the method has ended and the last message has been sent to the client. */
  async run(): Promise<void> {
    const { spec, context, write } = this.#parts;
    try {
      for await (const answer of spec.impl(this.#messages, context)) {
        const message = create(spec.method.output, answer);
        const sending = this.#living.send(`{"result":${write(message)}}`);
        if (sending) await sending;
      }
      this.#living.close(this.#isDraining ? 1012 : 1000);
    } catch (error) {
      await this.#fail(error);
    } finally {
      // The method reads no more messages, but the socket must continue to read to receive the
      // client's close frame.
      await this.#messages.return();
      this.#socket.resume();
    }
  }

  /** The error of a client that left before the end; undefined if it did not. */
  get gone(): ServiceError | undefined {
    const { reason } = this.#parts.context;
    return reason instanceof ServiceError && reason.code === "cancelled" ? reason : undefined;
  }

  /** Ends the request stream as if the client had ended it. Final results are still sent. */
  drain(): void {
    this.#isDraining = true;
    this.#messages.end();
  }

  /**
   * Ends the stream immediately, whatever the method does. A client that does not close the socket
   * is disconnected.
   */
  end(reason: ServiceError): void {
    this.#parts.context.abort(reason);
    this.#messages.fail(reason);
    const answer = this.#parts.answerError(reason);
    this.#socket.send(JSON.stringify({ error: statusJson(answer) }));
    this.#living.closeSoon(closeCode(answer));
  }

  #listen(): void {
    this.#socket.on("close", () => {
      const gone = clientGone();
      this.#parts.context.abort(gone);
      this.#messages.fail(gone);
    });
    // ws answers a broken frame with its own close code and then emits "close".
    this.#socket.on("error", () => {
      this.#parts.context.abort(new ServiceError("cancelled", "the client broke the protocol"));
    });
  }

  beat(): void {
    this.#living.beat();
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#parts.context.reason) return;
    const answer = this.#parts.answerError(error);
    await this.#living.send(JSON.stringify({ error: statusJson(answer) }));
    this.#living.close(this.#isDraining ? 1012 : closeCode(answer));
  }
}

/**
 * Returns the close code after an error message (api: Errors); 1008 for any other client error.
 */
function closeCode(error: ServiceError): number {
  if (error.reason === tooBig) return 1009;
  return closeCodes[error.code] ?? 1008;
}

const closeCodes: Partial<Record<ErrorCode, number>> = {
  invalid_argument: 1007,
  internal: 1011,
  unknown: 1011,
  data_loss: 1011,
  unimplemented: 1011,
  unavailable: 1013,
  resource_exhausted: 1013,
};
