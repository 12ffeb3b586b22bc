import type { DescMethod } from "@bufbuild/protobuf";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Caller } from "../auth/caller.ts";
import type { CallProtocol, CallRecorder, RecordedCall } from "../metrics/recorders.ts";
import type { ServiceError } from "../std/service-error.ts";
import { currentSpan, noteCall } from "../tracing/tracing.ts";
import { acceptHandshakes } from "./accept-handshakes.ts";
import type { AnswerError } from "./answer-errors.ts";
import { callOriginOf } from "./call-origin.ts";
import { clientGone } from "./client-gone.ts";
import { DialectSocket, type SocketClose } from "./dialect-socket.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { FailureAnswer } from "./answer-failure.ts";
import { targetOf } from "./http.ts";
import type { MessageReading } from "./message-reading.ts";
import { noted, recordedName, unrecorded } from "./record-calls.ts";
import { refuse } from "./refuse.ts";
import { shuttingDown } from "./shutting-down.ts";

/** A request for a socket of a dialect. */
export interface SocketRequest {
  readonly headers: IncomingHttpHeaders;
  readonly query: URLSearchParams;
  /** The parts of the path that its pattern names. */
  readonly path: Readonly<Record<string, string | undefined>>;
  readonly requestId: string;
}

/** A request that may open its socket. */
export interface AdmittedSocket {
  /** Serves the socket, and returns when nothing more is to be sent. Throws ServiceError. */
  readonly serve: (socket: DialectSocket, caller: Caller) => Promise<SocketClose>;
}

/** A protocol of another service over WebSocket. */
export interface SocketDialect {
  /** The protocol as which its calls are counted. */
  readonly protocol: CallProtocol;
  /** Matches the path without the query. */
  readonly path: RegExp;
  /** The maximum size of a message. */
  readonly messageBytesMax: number;
  /** The method of the contract whose access rules and limits apply. */
  readonly method: DescMethod;
  /** Returns the subprotocol to choose. */
  readonly protocolOf: (offered: ReadonlySet<string>) => string | undefined;
  /** Returns the headers with the token in the form in which the service reads it. */
  readonly shownKey: (headers: IncomingHttpHeaders) => Headers;
  /** Checks the options of a request. Throws ServiceError. */
  readonly admit: (request: SocketRequest) => AdmittedSocket;
  /** Returns the response to a request whose socket is not opened. */
  readonly errorAnswer: (error: ServiceError, requestId: string) => FailureAnswer;
  /** Returns the last message and the close code for a failure. */
  readonly closeOf: (error: ServiceError) => SocketClose;
}

export interface DialectSocketsParts {
  readonly authenticator: Authenticator;
  readonly answerError: AnswerError;
  readonly reading: Pick<MessageReading, "held">;
  readonly refusal: (headers: IncomingHttpHeaders) => ServiceError | undefined;
  readonly recorder?: CallRecorder;
  /** The interval between pings. Default: 20 s. */
  readonly pingMs?: number;
}

const fragmentsMax = 1_024;
const pingMsDefault = 20_000;

/** Serves the sockets of dialects. A path belongs to one dialect, which also writes its errors. */
export class DialectSockets {
  readonly #parts: DialectSocketsParts;
  readonly #dialects: readonly { dialect: SocketDialect; server: WebSocketServer }[];
  readonly #heartbeat: Heartbeat;
  readonly #open = new Map<DialectSocket, Promise<void>>();
  #isDraining = false;

  constructor(dialects: readonly SocketDialect[], parts: DialectSocketsParts) {
    this.#parts = parts;
    this.#dialects = dialects.map((dialect) => ({ dialect, server: serverOf(dialect) }));
    this.#heartbeat = new Heartbeat(parts.pingMs ?? pingMsDefault);
  }

  /** Returns whether a dialect has the path of a request. */
  handles(request: IncomingMessage): boolean {
    return this.#find(request) !== undefined;
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    destroyOnError(socket);
    const found = this.#find(request);
    if (!found) throw new Error("no dialect has this path");
    const recorded = (this.#parts.recorder ?? unrecorded).begin(found.dialect.protocol);
    recorded.called(recordedName(found.dialect.method), false);
    this.#upgrade(request, socket, head, { ...found, recorded }).catch((error: unknown) => {
      const { requestId } = callOriginOf(request);
      const answer = noted(recorded, this.#parts.answerError(error, requestId));
      recorded.end();
      const { errorAnswer } = found.dialect;
      refuse(socket, answer, requestId, (failure) => errorAnswer(failure, requestId));
    });
  }

  /** Refuses new sockets. Resolves when all open sockets are closed. */
  async refuse(): Promise<void> {
    this.#isDraining = true;
    await Promise.all(this.#open.values());
  }

  /** Returns a function for each open socket, which ends its requests. */
  ends(): readonly (() => void)[] {
    return Array.from(this.#open.keys(), (socket) => () => socket.drain());
  }

  /** Ends the requests of all sockets, which still get their final results. */
  async drain(): Promise<void> {
    for (const end of this.ends()) end();
    await this.refuse();
  }

  terminate(): void {
    for (const { server } of this.#dialects) {
      for (const client of server.clients) client.terminate();
    }
  }

  #find(request: IncomingMessage) {
    const path = pathOf(targetOf(request));
    return this.#dialects.find(({ dialect }) => dialect.path.test(path));
  }

  async #upgrade(
    request: IncomingMessage,
    raw: Duplex,
    head: Buffer,
    { dialect, server, recorded }: FoundDialect,
  ): Promise<void> {
    const { authenticator, refusal } = this.#parts;
    const refused = refusal(request.headers);
    if (refused) throw refused;
    const url = targetOf(request);
    const headers = dialect.shownKey(request.headers);
    const facts = { headers, url, origin: callOriginOf(request), isWebSocket: true };
    const { parent, name } = dialect.method;
    const method = `${parent.typeName}/${name}`;
    noteCall({ method });
    currentSpan()?.rename(`WEBSOCKET ${method}`);
    const caller = await authenticator.authenticate(facts, dialect.method);
    if (this.#isDraining) throw shuttingDown("stream");
    const admitted = dialect.admit({
      headers: request.headers,
      query: new URLSearchParams(url.slice(pathOf(url).length)),
      path: dialect.path.exec(pathOf(url))?.groups ?? {},
      requestId: callOriginOf(request).requestId,
    });
    if (raw.destroyed) throw clientGone();
    const { requestId } = callOriginOf(request);
    server.handleUpgrade(request, raw, head, (webSocket) => {
      this.#begin(webSocket, { dialect, admitted, caller, raw, requestId, recorded });
    });
  }

  /** This is a separate function: a closure of the upgrade would keep the request in memory. */
  #begin(webSocket: WebSocket, call: OpenedCall): void {
    const { dialect, caller, raw, requestId, recorded } = call;
    const socket = new DialectSocket(webSocket, {
      raw,
      share: this.#parts.reading.held.hold(caller.accountId),
      closeOf: (error) =>
        dialect.closeOf(noted(recorded, this.#parts.answerError(error, requestId))),
    });
    this.#heartbeat.add(socket);
    this.#open.set(socket, this.#run(socket, call));
  }

  async #run(socket: DialectSocket, call: OpenedCall): Promise<void> {
    const { dialect, admitted, caller, recorded } = call;
    const { authenticator } = this.#parts;
    // The socket may be open for hours; the spans of its utterances follow.
    currentSpan()?.end();
    using _watched = authenticator.watch(caller, dialect.method, (reason) => socket.end(reason));
    await socket.run(async () => admitted.serve(socket, caller));
    recorded.end();
    this.#heartbeat.remove(socket);
    this.#open.delete(socket);
  }
}

interface OpenedCall {
  readonly dialect: SocketDialect;
  readonly admitted: AdmittedSocket;
  readonly caller: Caller;
  readonly raw: Duplex;
  readonly requestId: string;
  readonly recorded: RecordedCall;
}

interface FoundDialect {
  readonly dialect: SocketDialect;
  readonly server: WebSocketServer;
  readonly recorded: RecordedCall;
}

function serverOf({ messageBytesMax, protocolOf }: SocketDialect): WebSocketServer {
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    maxFragments: fragmentsMax,
  });
  acceptHandshakes(server);
  server.options.handleProtocols = (offered) => protocolOf(offered) ?? false;
  return server;
}

function pathOf(target: string): string {
  return target.split("?", 1)[0] ?? "";
}

/** Destroys a socket that fails; see websocket.ts. */
function destroyOnError(socket: Duplex): void {
  socket.on("error", () => socket.destroy());
}
