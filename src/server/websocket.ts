import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { MethodImplSpec } from "@connectrpc/connect";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { ErrorCode } from "../std/error-codes.ts";
import { ServiceError } from "../std/service-error.ts";
import type { Binding } from "../transcoding/http-rules.ts";
import type { Transcoder } from "../transcoding/transcoder.ts";
import { acceptHandshakes } from "./accept-handshakes.ts";
import { statusJson, type AnswerError } from "./answer-errors.ts";
import { CallContext } from "./call-context.ts";
import { callOriginOf } from "./call-origin.ts";
import { Heartbeat } from "./heartbeat.ts";
import { closeGraceMs, headersOf, targetOf } from "./http.ts";
import type { MessageQueue } from "./message-queue.ts";
import type { MessageReading } from "./message-reading.ts";
import type { Methods } from "./methods.ts";
import { RefusedSockets } from "./refused-sockets.ts";
import { messageBytesMax, socketMessages, tooBig, type MessageParts } from "./socket-messages.ts";

/** A frame that says it is longer than this is not even read to its end. */
const frameBytesMax = 2 * messageBytesMax;
/** Frames of one message; past it the socket is closed with 1008. */
const fragmentsMax = 1_024;
/** Answers that wait for the caller; past it the method is not asked for more. */
const unsentBytesMax = 256 << 10;
/** A caller that takes nothing for this long is let go. */
const unsentMsMax = 30_000;
const pingMsDefault = 20_000;

type BidiSpec = Extract<MethodImplSpec, { kind: "bidi_streaming" }>;

export interface WebSocketDoor {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /**
   * Ends every stream as its caller would: finals go out, then the socket closes with 1012.
   * Resolves when all are closed.
   */
  drain(): Promise<void>;
  /** Cuts what is still open. */
  terminate(): void;
}

/**
 * Serves bidi methods with an HTTP rule of kind WEBSOCKET: JSON messages in, {"result"} or
 * {"error"} out (section 4.9).
 */
export function createWebSocketDoor(parts: {
  readonly transcoder: Transcoder;
  readonly methods: Methods;
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  /** Why the page that asks may open no socket at all; nothing else is looked at then. */
  readonly refusal?: (headers: IncomingHttpHeaders) => ServiceError | undefined;
  readonly reading: MessageReading;
  /**
   * How often a caller is asked for a sign of life; one that misses three is let go. Default 20 s.
   */
  readonly pingMs?: number;
}): WebSocketDoor {
  const { pingMs = pingMsDefault } = parts;
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    maxFragments: fragmentsMax,
  });
  acceptHandshakes(server);
  const refused = new RefusedSockets();
  const streams = new Map<Stream, Promise<void>>();
  const heartbeat = new Heartbeat(pingMs);
  let isDraining = false;

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const target = targetOf(request);
    const { binding } = parts.transcoder.route("WEBSOCKET", target);
    if (binding.method.methodKind !== "bidi_streaming") {
      // A rule of kind "*" takes any method.
      throw new ServiceError(
        "failed_precondition",
        "this is no stream: call it without an upgrade",
      );
    }
    const headers = headersOf(request);
    const origin = callOriginOf(request);
    const facts = { headers, url: target, origin, isWebSocket: true };
    const caller = await parts.authenticator.authenticate(facts, binding.method);
    if (isDraining) throw shuttingDown();
    if (socket.destroyed) return;
    const spec = parts.methods.get(binding.method);
    if (spec?.kind !== "bidi_streaming")
      throw new Error(`${binding.method.name} is no bidi stream`);
    const call = {
      protocolName: "websocket",
      method: binding.method,
      url: target,
      caller,
    } as const;
    const context = new CallContext({ method: "GET", headers: request.headers }, call);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const answerError: AnswerError = (error) => parts.answerError(error, origin.requestId);
      const stream = new Stream(webSocket, {
        spec,
        context,
        method: spec.method,
        share: parts.reading.held.hold(caller.accountId),
        accountId: caller.accountId,
        turns: parts.reading.turns,
        raw: socket,
        answerError,
        write: writerOf(binding),
      });
      heartbeat.add(stream);
      streams.set(stream, run(stream, caller, binding.method));
    });
  };
  /** Not a closure of the upgrade, which holds the whole request. */
  const writerOf = (binding: Binding) => (message: Message) =>
    parts.transcoder.write(binding, message);
  const run = async (stream: Stream, caller: Caller, method: DescMethod) => {
    using _watched = parts.authenticator.watch(caller, method, (reason) => {
      stream.end(reason);
    });
    await stream.run();
    heartbeat.remove(stream);
    streams.delete(stream);
  };

  return {
    handleUpgrade(request, socket, head) {
      socket.on("error", () => socket.destroy());
      const refusal = parts.refusal?.(request.headers);
      const upgraded = refusal ? Promise.reject(refusal) : upgrade(request, socket, head);
      upgraded.catch((error: unknown) => {
        const answer = parts.answerError(error, callOriginOf(request).requestId);
        refused.refuse({ request, socket, head }, answer);
      });
    },
    async drain() {
      isDraining = true;
      for (const stream of streams.keys()) stream.drain();
      await Promise.all(streams.values());
    },
    terminate() {
      for (const client of server.clients) client.terminate();
      refused.terminate();
    },
  };
}

interface StreamParts extends MessageParts {
  readonly spec: BidiSpec;
  readonly context: CallContext;
  readonly answerError: AnswerError;
  readonly write: (message: Message) => string;
}

/** One open socket and the method that it talks to. */
class Stream {
  readonly #socket: WebSocket;
  readonly #parts: StreamParts;
  readonly #messages: MessageQueue<Message>;
  #isDraining = false;
  #missedPongs = 0;

  constructor(socket: WebSocket, parts: StreamParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#messages = socketMessages(socket, parts);
    this.#listen();
  }

  /** Resolves when the method has ended and its caller was told. */
  async run(): Promise<void> {
    const { spec, context, write } = this.#parts;
    try {
      for await (const answer of spec.impl(this.#messages, context)) {
        const message = create(spec.method.output, answer);
        const sending = this.#send(`{"result":${write(message)}}`);
        if (sending) await sending;
      }
      this.#close(this.#isDraining ? 1012 : 1000);
    } catch (error) {
      await this.#fail(error);
    } finally {
      // Nobody reads them any more; the socket must, to see the caller's close.
      await this.#messages.return();
      this.#socket.resume();
    }
  }

  /** Stops listening as if the caller had finalized: the finals still go out. */
  drain(): void {
    this.#isDraining = true;
    this.#messages.end();
  }

  /** Ends at once, whatever the method does; who does not take the close is cut. */
  end(reason: ServiceError): void {
    this.#parts.context.abort(reason);
    this.#messages.fail(reason);
    const answer = this.#parts.answerError(reason);
    this.#socket.send(JSON.stringify({ error: statusJson(answer) }));
    this.#close(closeCode(answer));
    // Its close is read also while its messages were not.
    this.#socket.resume();
    const timer = setTimeout(() => {
      this.#socket.terminate();
    }, closeGraceMs);
    this.#socket.once("close", () => {
      clearTimeout(timer);
    });
  }

  #listen(): void {
    this.#socket.on("message", () => {
      this.#missedPongs = 0;
    });
    this.#socket.on("pong", () => {
      this.#missedPongs = 0;
    });
    this.#socket.on("close", () => {
      const gone = new ServiceError("cancelled", "the caller went away");
      this.#parts.context.abort(gone);
      this.#messages.fail(gone);
    });
    // ws answers a broken frame with its own close code and then emits "close".
    this.#socket.on("error", () => {
      this.#parts.context.abort(new ServiceError("cancelled", "the caller broke the protocol"));
    });
  }

  /** Asks for a sign of life; who misses three is let go. */
  beat(): void {
    // While the socket is not read, its pongs are not either.
    if (!this.#socket.isPaused) this.#missedPongs += 1;
    if (this.#missedPongs > 2) this.#socket.terminate();
    else this.#socket.ping();
  }

  /** A promise only where the caller takes too little: resolves when it has taken all. */
  #send(text: string): Promise<void> | undefined {
    this.#socket.send(text);
    return this.#socket.bufferedAmount <= unsentBytesMax ? undefined : this.#taken();
  }

  async #taken(): Promise<void> {
    const timer = setTimeout(() => {
      this.#socket.terminate();
    }, unsentMsMax);
    // A ping goes out behind everything that waits: its callback means that the caller has taken
    // it.
    await new Promise<void>((resolve) => {
      this.#socket.ping("", false, () => {
        resolve();
      });
    });
    clearTimeout(timer);
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#parts.context.reason) return;
    const answer = this.#parts.answerError(error);
    await this.#send(JSON.stringify({ error: statusJson(answer) }));
    this.#close(this.#isDraining ? 1012 : closeCode(answer));
  }

  #close(code: number): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.close(code);
  }
}

/**
 * The close code after an error message (decisions: Errors); 1008 for all else that is the caller's
 * doing.
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
function shuttingDown(): ServiceError {
  return new ServiceError("unavailable", "the service is shutting down: open the stream again", {
    reason: "SHUTTING_DOWN",
  });
}
