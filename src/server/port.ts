import { once } from "node:events";
import {
  createServer as createHttp1Server,
  type IncomingMessage,
  type Server as Http1Server,
  type ServerResponse,
} from "node:http";
import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import { CallPump } from "./call-pump.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import { Connections, defaultConnectionsMax, type ConnectionLimits } from "./connection-limits.ts";
import { Http1Connection, stopParsingWhenClosed } from "./http1-connection.ts";
import { listenAt } from "./listen-at.ts";
import { pumpCalls, type PortHandlers } from "./pump-calls.ts";
import { detectProtocol } from "./detect-protocol.ts";
import { unsentLimits, UnsentWatch, type UnsentLimits } from "./unsent-watch.ts";

/** The maximum time for which an idle connection stays open. */
const idleMsMaxDefault = 75_000;
/**
 * The TCP keep-alive delay. An idle connection is probed after this time, and closed some minutes
 * later if its peer no longer responds.
 */
const keepAliveMs = 60_000;
/** The maximum delay between the body of a response and its trailers. */
const trailersMs = 200;
/** The time after which a connection that was asked to close is destroyed. */
const endMsMax = 5_000;
/**
 * The time within which requests that were already sent when clients were asked to disconnect will
 * have arrived.
 */
const lastRequestsMs = 250;
/**
 * A GOAWAY frame after which calls that were already sent are still accepted (RFC 9113, section
 * 6.8): NO_ERROR, and the highest stream id. After Node's own GOAWAY, new streams are ignored,
 * whatever its stream id.
 */
const gentleGoaway = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * The number of HTTP/2 calls that may be cancelled, in a burst and per second, before the
 * connection is closed.
 */
const resets = { streamResetBurst: 100, streamResetRate: 33 };

export interface PortLimits extends UnsentLimits {
  /**
   * The time after which a connection is closed if its protocol or headers are still incomplete.
   */
  readonly headersMsMax: number;
  readonly idleMsMax: number;
  readonly connections: ConnectionLimits;
}

export interface Port {
  /** The bound address in the form http://<host>:<port>. */
  readonly address: string;
  /** The number of calls in flight. */
  readonly callsInFlight: () => number;
  /**
   * Asks every client to close its connection (Connection: close, GOAWAY). Resolves when the calls
   * in flight have ended. New calls are still passed to the handlers.
   */
  retire(): Promise<void>;
  /**
   * Asks every client to close its connection as retire() does, and serves new calls
   * until the calls in flight and `others` have ended. Only then does the port stop listening and
   * close idle connections. Resolves when the last connection is closed.
   */
  drain(others?: Promise<unknown>): Promise<void>;
  /** Stops listening, and closes every connection. */
  close(): void;
}

/**
 * Listens for cleartext HTTP/1.1 (with WebSocket upgrades) and HTTP/2 on one port. The first bytes
 * of a connection determine its protocol.
 */
export async function openPort(
  at: { readonly host: string; readonly port: number },
  handlers: PortHandlers,
  given: Partial<PortLimits> = {},
): Promise<Port> {
  const limits: PortLimits = { ...defaultLimits(), ...given };
  const unsent = new UnsentWatch(limits);
  const calls = new CallsInFlight();
  const pump = new CallPump();
  const pumped = pumpCalls(handlers, pump);
  const watched: PortHandlers = {
    ...pumped,
    handle: (request, response) => {
      calls.add(response);
      pumped.handle(request, response);
    },
  };
  const http1 = openHttp1(watched, limits);
  const sessions = new Map<ServerHttp2Session, Socket>();
  const http2 = openHttp2(watched, unsent);
  const connections = new Connections(limits.connections, () => {
    http1.closeIdleConnections();
  });
  /** Connections whose protocol is not yet known. */
  const silent = new Set<Socket>();
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: keepAliveMs };
  const listener = createServer({ noDelay: true, ...keepAlive }, (socket) => {
    if (!connections.admit(socket)) return;
    silent.add(socket);
    socket.once("close", () => silent.delete(socket));
    detectProtocol(socket, limits.headersMsMax, (isHttp2) => {
      silent.delete(socket);
      if (isHttp2) {
        http2.once("session", (session) => {
          sessions.set(session, socket);
          session.once("close", () => sessions.delete(session));
          endWhenIdle(session, socket, limits.idleMsMax);
        });
        http2.emit("connection", socket);
        return;
      }
      unsent.watchSocket(socket);
      http1.emit("connection", socket);
    });
  });
  await listenAt(listener, at);
  const closed = once(listener, "close");

  const retire = async (): Promise<void> => {
    const ended = calls.end();
    sayGoaway(sessions);
    await ended;
  };

  return {
    address: addressOf(listener.address()),
    callsInFlight: () => calls.count,
    retire,
    async drain(others) {
      const hasCallers = connections.open.length > 0;
      await Promise.race([
        Promise.all([retire(), others, hasCallers && sleep(lastRequestsMs)]),
        closed,
      ]);
      listener.close();
      for (const session of sessions.keys()) session.close();
      for (const socket of silent) socket.destroy();
      // Node closes a connection after a response only if the request asks for that. Idle
      // connections are therefore closed again and again until none is left.
      const sweep = setInterval(() => {
        http1.closeIdleConnections();
      }, 100);
      http1.closeIdleConnections();
      await closed;
      clearInterval(sweep);
      unsent[Symbol.dispose]();
      http1.close();
    },
    close() {
      listener.close();
      for (const socket of connections.open) socket.destroy();
    },
  };
}

/** Node always writes whole frames, so this write does not split a frame. */
function sayGoaway(sessions: ReadonlyMap<ServerHttp2Session, Socket>): void {
  for (const [session, socket] of sessions) {
    if (!session.closed && socket.writable) socket.write(gentleGoaway);
  }
}

function defaultLimits(): PortLimits {
  return {
    ...unsentLimits,
    headersMsMax: 10_000,
    idleMsMax: idleMsMaxDefault,
    connections: { max: defaultConnectionsMax(), perAddressMax: Infinity, isExempt: () => true },
  };
}

function openHttp1(handlers: PortHandlers, { headersMsMax, idleMsMax }: PortLimits): Http1Server {
  const http1 = createHttp1Server({
    headersTimeout: headersMsMax,
    // A body may take a long time, for example an upload of gigabytes. Bodies have their own idle
    // limits.
    requestTimeout: 0,
    keepAliveTimeout: idleMsMax,
    connectionsCheckingInterval: Math.min(500, headersMsMax / 2),
    noDelay: true,
    // The request handler checks the Host header, and responds with our own error.
    requireHostHeader: false,
    // Other upgrades, such as curl's to h2c, are declined by ignoring them (RFC 9110, section 7.8).
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  const connections = new WeakMap<Duplex, Http1Connection>();
  // This listener runs after Node's own listener, which sets up the parser.
  http1.on("connection", (socket) => {
    connections.set(socket, new Http1Connection(socket));
    stopParsingWhenClosed(socket);
  });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const begin = (): void => handlers.handle(request, response);
    const connection = connections.get(request.socket);
    if (connection) connection.add(request, response, begin);
    else begin();
  };
  http1.on("request", handle);
  // The doors send 100 Continue themselves.
  http1.on("checkContinue", handle);
  http1.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    connections.get(socket)?.upgrade();
    handlers.upgrade(request, socket, head);
  });
  http1.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    handlers.refuse(error.code ?? "", socket);
  });
  // Without a listener, Node would close the connection without a response.
  http1.on("connect", (_request, socket: Duplex) => {
    socket.on("error", () => socket.destroy());
    handlers.refuse("CONNECT", socket);
  });
  // The HTTP/1.1 server does not listen itself. Without this event, it would never check for late
  // headers.
  http1.emit("listening");
  return http1;
}

function openHttp2(handlers: PortHandlers, unsent: UnsentWatch): Http2Server {
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: 256 }, ...resets },
    handlers.handle,
  );
  http2.on("checkContinue", handlers.handle);
  // A complete response ends the stream, even if the client has more to send (RFC 9113, section
  // 8.1). Trailers are sent after "finish", without an event.
  http2.on("request", (_request, { stream }) => {
    stream.once("finish", () => {
      const close = setTimeout(() => {
        stream.close(constants.NGHTTP2_NO_ERROR);
      }, trailersMs);
      stream.once("close", () => {
        clearTimeout(close);
      });
    });
  });
  http2.on("session", (session) => {
    const chunks = new TinyChunks();
    session.on("stream", (stream) => {
      refuseTinyChunks(session, stream, chunks);
      unsent.watchStream(stream, () => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      });
    });
  });
  // A failed session ends with its socket, so its error needs no handling.
  http2.on("sessionError", () => {});
  return http2;
}

/** Closes a connection whose bodies arrive in chunks that cost more to process than to send. */
function refuseTinyChunks(
  session: ServerHttp2Session,
  stream: ServerHttp2Stream,
  chunks: TinyChunks,
): void {
  const areTiny = chunks.ofBody();
  const push = stream.push.bind(stream);
  stream.push = (chunk: Uint8Array | null, encoding): boolean => {
    if (session.destroyed || stream.destroyed) return true;
    if (chunk === null || !areTiny(chunk.length)) return push(chunk, encoding);
    const { NGHTTP2_ENHANCE_YOUR_CALM: code } = constants;
    session.goaway(code, 0, Buffer.from(tinyChunks().message));
    // A destroyed stream passes on no more data.
    stream.destroy();
    setImmediate(() => {
      session.destroy(undefined, code);
    });
    return true;
  };
}

/**
 * Closes a connection that has had no call for `idleMsMax`, whatever else it sends. Long silent
 * calls, such as Watch in gRPC's health service, keep their connection open.
 */
function endWhenIdle(session: ServerHttp2Session, socket: Socket, idleMsMax: number): void {
  let calls = 0;
  const end = () => {
    session.close();
    // A connection does not close by itself if its peer reads nothing, has an unfinished call, or
    // simply stays connected.
    idle = setTimeout(() => socket.destroy(), endMsMax);
  };
  let idle = setTimeout(end, idleMsMax);
  session.on("stream", (stream) => {
    calls += 1;
    clearTimeout(idle);
    stream.once("close", () => {
      calls -= 1;
      if (calls > 0 || session.closed) return;
      clearTimeout(idle);
      idle = setTimeout(end, idleMsMax);
    });
  });
  socket.once("close", () => {
    clearTimeout(idle);
  });
}

function addressOf(bound: string | AddressInfo | null): string {
  if (bound === null || typeof bound === "string") throw new Error("the port is not bound");
  const { address, family, port } = bound;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
