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
import { pumpCalls, type PortHandlers } from "./pump-calls.ts";
import { detectProtocol } from "./detect-protocol.ts";
import { unsentLimits, UnsentWatch, type UnsentLimits } from "./unsent-watch.ts";

/** A connection without a call is kept this long. */
const idleMsMaxDefault = 75_000;
/** A peer of an idle connection is looked for after this, and given up some minutes later. */
const keepAliveMs = 60_000;
/** Trailers of an answer have gone out this long after its body. */
const trailersMs = 200;
/** A connection that is told to end is cut after this. */
const endMsMax = 5_000;
/**
 * A request that is on its way over an idle connection when its caller is asked to leave has come
 * after this.
 */
const lastRequestsMs = 250;
/**
 * GOAWAY that lets all calls in that are on their way (RFC 9113, section 6.8): NO_ERROR, and the
 * highest stream that there is. After one that Node sends, new streams are not looked at, whatever
 * it says.
 */
const farewell = Buffer.from("0000080700000000007fffffff00000000", "hex");

/**
 * Calls over HTTP/2 that are taken back: so many at once, and in a second, before the connection is
 * closed.
 */
const resets = { streamResetBurst: 100, streamResetRate: 33 };

export interface PortLimits extends UnsentLimits {
  /**
   * A connection that does not say what it speaks, or whose headers are not whole, is closed after
   * this.
   */
  readonly headersMsMax: number;
  readonly idleMsMax: number;
  readonly connections: ConnectionLimits;
}

export interface Port {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /**
   * Tells every caller to leave its connection (Connection: close, GOAWAY), and answers all until
   * the calls in flight and `others` have ended; only then it takes no more connections and lets
   * idle ones go. Resolves when the last one is closed.
   */
  drain(others?: Promise<unknown>): Promise<void>;
  /** Takes no more connections, and cuts every one. */
  close(): void;
}

/**
 * Listens for cleartext HTTP/1.1 (with WebSocket upgrades) and HTTP/2 on one port, told apart by
 * the first bytes.
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
  /** Those that have not said what they speak. */
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
  listener.listen(at.port, at.host);
  await once(listener, "listening");
  const closed = once(listener, "close");

  return {
    address: addressOf(listener.address()),
    async drain(others) {
      const begun = calls.end();
      // Between two writes of Node there are always whole frames.
      for (const [session, socket] of sessions)
        if (!session.closed && socket.writable) socket.write(farewell);
      const hasCallers = connections.open.length > 0;
      await Promise.race([
        Promise.all([begun, others, hasCallers && sleep(lastRequestsMs)]),
        closed,
      ]);
      listener.close();
      for (const session of sessions.keys()) session.close();
      for (const socket of silent) socket.destroy();
      // Node closes a connection after its answer only when it is told at each request; look again
      // until none is left.
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
    // A body may take long: an upload of gigabytes. Bodies have idle limits of their own.
    requestTimeout: 0,
    keepAliveTimeout: idleMsMax,
    connectionsCheckingInterval: Math.min(500, headersMsMax / 2),
    noDelay: true,
    // Asked for by our own doors, which say so in our own words.
    requireHostHeader: false,
    // Other upgrades, such as curl's to h2c, are declined by answering as if they were not there
    // (RFC 9110, section 7.8).
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
  });
  const connections = new WeakMap<Duplex, Http1Connection>();
  // Behind Node's own listener, which has set the parser up.
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
  // The doors ask for the body themselves.
  http1.on("checkContinue", handle);
  http1.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    connections.get(socket)?.upgrade();
    handlers.upgrade(request, socket, head);
  });
  http1.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    handlers.refuse(error.code ?? "", socket);
  });
  // Without a listener Node would close the connection without a word.
  http1.on("connect", (_request, socket: Duplex) => {
    socket.on("error", () => socket.destroy());
    handlers.refuse("CONNECT", socket);
  });
  // Without it the server never looks for headers that are late: it does not listen itself.
  http1.emit("listening");
  return http1;
}

function openHttp2(handlers: PortHandlers, unsent: UnsentWatch): Http2Server {
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: 256 }, ...resets },
    handlers.handle,
  );
  http2.on("checkContinue", handlers.handle);
  // A whole answer ends the stream, also when the caller has more to send (RFC 9113, section 8.1).
  // Its trailers go out after "finish", and there is no event for that.
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
    const pieces = new TinyChunks();
    session.on("stream", (stream) => {
      refuseTinyPieces(session, stream, pieces);
      unsent.watchStream(stream, () => {
        stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      });
    });
  });
  // A broken session ends with its socket; there is nobody to tell.
  http2.on("sessionError", () => {});
  return http2;
}

/** Ends a connection whose bodies come in pieces that cost more to take apart than to send. */
function refuseTinyPieces(
  session: ServerHttp2Session,
  stream: ServerHttp2Stream,
  pieces: TinyChunks,
): void {
  const areTiny = pieces.ofBody();
  const push = stream.push.bind(stream);
  stream.push = (chunk: Uint8Array | null, encoding): boolean => {
    if (session.destroyed || stream.destroyed) return true;
    if (chunk === null || !areTiny(chunk.length)) return push(chunk, encoding);
    const { NGHTTP2_ENHANCE_YOUR_CALM: code } = constants;
    session.goaway(code, 0, Buffer.from(tinyChunks().message));
    // Of a stream that is gone nothing more is handed over.
    stream.destroy();
    setImmediate(() => {
      session.destroy(undefined, code);
    });
    return true;
  };
}

/**
 * Ends a connection that has had no call for so long, whatever else it sends. Calls that are silent
 * for long, such as Watch of gRPC's health, keep theirs.
 */
function endWhenIdle(session: ServerHttp2Session, socket: Socket, idleMsMax: number): void {
  let calls = 0;
  const end = () => {
    session.close();
    // One whose peer takes nothing, has half a call under way or just stays does not end by itself.
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
