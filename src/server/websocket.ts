import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { CallRecorder, RecordedCall } from "../metrics/recorders.ts";
import { ServiceError } from "../std/service-error.ts";
import type { Binding } from "../transcoding/http-rules.ts";
import { acceptHandshakes } from "./accept-handshakes.ts";
import { currentSpan, noteCall } from "../tracing/tracing.ts";
import type { AnswerError } from "./answer-errors.ts";
import { CallContext } from "./call-context.ts";
import { callOriginOf } from "./call-origin.ts";
import { clientGone } from "./client-gone.ts";
import type { Contract } from "./contract.ts";
import { Heartbeat } from "./heartbeat.ts";
import { headersOf, plainVerb, targetOf } from "./http.ts";
import type { MessageReading } from "./message-reading.ts";
import { noted, recordedName, unrecorded } from "./record-calls.ts";
import { RefusedSockets } from "./refused-sockets.ts";
import { shuttingDown } from "./shutting-down.ts";
import { messageBytesMax } from "./socket-messages.ts";
import { SocketStream, type BidiSpec } from "./socket-stream.ts";

/** A frame is refused if its header announces more than this size. */
const frameBytesMax = 2 * messageBytesMax;
/**
 * The maximum number of frames in one message. If there are more, the socket is closed with 1008.
 */
const fragmentsMax = 1_024;
const pingMsDefault = 20_000;

export interface WebSocketDoor {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Refuses new sockets. Resolves when all open sockets are closed. */
  refuse(): Promise<void>;
  /** Returns a function for each open socket, which ends its requests as drain() does. */
  ends(): readonly (() => void)[];
  /**
   * Ends the request side of every stream. Final results are sent, and then the sockets are closed
   * with 1012. Resolves when all sockets are closed.
   */
  drain(): Promise<void>;
  /** Closes all open connections. */
  terminate(): void;
}

interface WebSocketParts {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  /**
   * Returns the reason why a page may not open a socket at all. This check comes before all others.
   */
  readonly refusal?: (headers: IncomingHttpHeaders) => ServiceError | undefined;
  readonly reading: MessageReading;
  readonly recorder?: CallRecorder;
  /**
   * The interval between pings. A client that misses three pings is disconnected. Default: 20 s.
   */
  readonly pingMs?: number;
}

/**
 * Serves bidi methods with an HTTP rule of kind WEBSOCKET. Messages are JSON, and the service sends
 * {"result"} or {"error"} (§4.9).
 */
export function createWebSocketDoor(
  contract: Pick<Contract, "transcoder" | "methods">,
  parts: WebSocketParts,
): WebSocketDoor {
  return new SocketDoor(contract, parts);
}

/** A call with an admitted socket. */
interface AdmittedCall {
  readonly spec: BidiSpec;
  readonly binding: Binding;
  readonly caller: Caller;
  readonly target: string;
}

class SocketDoor implements WebSocketDoor {
  readonly #contract: Pick<Contract, "transcoder" | "methods">;
  readonly #parts: WebSocketParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: frameBytesMax,
    maxFragments: fragmentsMax,
  });
  readonly #refused = new RefusedSockets();
  readonly #streams = new Map<SocketStream, Promise<void>>();
  readonly #heartbeat: Heartbeat;
  #isDraining = false;

  constructor(contract: Pick<Contract, "transcoder" | "methods">, parts: WebSocketParts) {
    this.#contract = contract;
    this.#parts = parts;
    this.#heartbeat = new Heartbeat(parts.pingMs ?? pingMsDefault);
    acceptHandshakes(this.#server);
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    destroyOnError(socket);
    const recorded = (this.#parts.recorder ?? unrecorded).begin("websocket");
    this.#upgrade(recorded, request, socket, head).catch((error: unknown) => {
      const answer = this.#parts.answerError(error, callOriginOf(request).requestId);
      noted(recorded, answer);
      recorded.end();
      this.#refused.refuse({ request, socket, head }, answer);
    });
  }

  async refuse(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(this.#streams.values());
  }

  ends(): readonly (() => void)[] {
    return Array.from(this.#streams.keys(), (stream) => () => stream.drain());
  }

  async drain(): Promise<void> {
    for (const end of this.ends()) end();
    await this.refuse();
  }

  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#refused.terminate();
  }

  async #upgrade(
    recorded: RecordedCall,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const refusal = this.#parts.refusal?.(request.headers);
    if (refusal) throw refusal;
    const call = await this.#admit(request, recorded);
    if (socket.destroyed) {
      noted(recorded, clientGone());
      recorded.end();
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const stream = new SocketStream(
        webSocket,
        this.#streamParts(call, recorded, request, socket),
      );
      this.#heartbeat.add(stream);
      this.#streams.set(stream, this.#run(stream, recorded, call.caller, call.binding.method));
    });
  }

  async #admit(request: IncomingMessage, recorded: RecordedCall): Promise<AdmittedCall> {
    const { transcoder, methods } = this.#contract;
    const target = plainVerb(targetOf(request));
    const { binding } = transcoder.route("WEBSOCKET", target);
    const { method } = binding;
    noteCall({ method: `${method.parent.typeName}/${method.name}` });
    currentSpan()?.rename(`WEBSOCKET ${binding.template}`);
    recorded.called(recordedName(method), false);
    if (method.methodKind !== "bidi_streaming") {
      // A rule with kind "*" matches any method.
      const problem = "this method does not stream: send a plain request without an upgrade";
      throw new ServiceError("failed_precondition", problem);
    }
    const headers = headersOf(request);
    const facts = { headers, url: target, origin: callOriginOf(request), isWebSocket: true };
    const caller = await this.#parts.authenticator.authenticate(facts, method);
    if (this.#isDraining) throw shuttingDown("stream");
    const spec = methods.get(method);
    if (spec?.kind !== "bidi_streaming") throw new Error(`${method.name} is not a bidi stream`);
    return { spec, binding, caller, target };
  }

  #streamParts(
    { spec, binding, caller, target: url }: AdmittedCall,
    recorded: RecordedCall,
    request: IncomingMessage,
    raw: Duplex,
  ) {
    const { reading, answerError } = this.#parts;
    const { requestId } = callOriginOf(request);
    const { method } = binding;
    const called = { protocolName: "websocket", method, url, caller } as const;
    return {
      spec,
      context: new CallContext({ method: "GET", headers: request.headers }, called),
      method: spec.method,
      share: reading.held.hold(caller.accountId),
      accountId: caller.accountId,
      turns: reading.turns,
      raw,
      answerError: (error: unknown) => noted(recorded, answerError(error, requestId)),
      write: this.#writerOf(binding),
    };
  }

  /**
   * This is a separate function because a closure in the upgrade handler would keep the whole
   * request in memory.
   */
  #writerOf(binding: Binding) {
    const { transcoder } = this.#contract;
    return (message: Message) => transcoder.write(binding, message);
  }

  async #run(
    stream: SocketStream,
    recorded: RecordedCall,
    caller: Caller,
    method: DescMethod,
  ): Promise<void> {
    using _watched = this.#parts.authenticator.watch(caller, method, (reason) => {
      stream.end(reason);
    });
    await stream.run();
    if (stream.gone) noted(recorded, stream.gone);
    recorded.end();
    this.#heartbeat.remove(stream);
    this.#streams.delete(stream);
  }
}

/**
 * Destroys a socket that fails. This is a separate function because the listener stays as long as
 * the socket: in the upgrade handler, it would keep the whole request in memory.
 */
function destroyOnError(socket: Duplex): void {
  socket.on("error", () => socket.destroy());
}
