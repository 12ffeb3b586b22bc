import {
  createServer as createHttp1Server,
  type IncomingMessage,
  type Server as Http1Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { CallPump } from "./call-pump.ts";
import { CallsInFlight } from "./calls-in-flight.ts";
import { Connections, defaultConnectionsMax, type ConnectionLimits } from "./connection-limits.ts";
import { openHttp2 } from "./http2-connections.ts";
import { Http1Connection, stopParsingWhenClosed } from "./http1-connection.ts";
import type { ListenPlace } from "./listen-at.ts";
import { openListener, type ConnectionSource } from "./port-listener.ts";
import { pumpCalls, type PortHandlers } from "./pump-calls.ts";
import { detectProtocol } from "./detect-protocol.ts";
import { acceptTls } from "./tls/accept-tls.ts";
import type { ServedCertificate } from "./tls/served-certificate.ts";
import { unsentLimits, UnsentWatch, type UnsentLimits } from "./unsent-watch.ts";

/** The maximum time for which an idle connection stays open. */
const idleMsMaxDefault = 75_000;
/**
 * The time within which requests that were already sent when clients were asked to disconnect will
 * have arrived.
 */
const lastRequestsMs = 250;
/** How long accepted connections that have sent nothing yet may take to send a request. */
const firstBytesMs = 2_000;

export interface PortLimits extends UnsentLimits {
  /**
   * The time after which a connection is closed if its protocol or headers are still incomplete.
   */
  readonly headersMsMax: number;
  readonly idleMsMax: number;
  readonly connections: ConnectionLimits;
}

export interface Port {
  /** The bound address in the form http://<host>:<port>, or https:// with a certificate. */
  readonly address: string;
  /** The number of calls in flight. */
  readonly callsInFlight: () => number;
  /** The number of open connections. */
  readonly connections: () => number;
  /**
   * Asks every client to close its connection (Connection: close, GOAWAY). Resolves when the calls
   * in flight have ended. New calls are still passed to the handlers.
   */
  retire(): Promise<void>;
  /**
   * Asks every client to close its connection as retire() does, and serves new calls
   * until the calls in flight and `others` have ended. Only then does the port stop listening and
   * close idle connections. Resolves when the last connection is closed. A port whose socket is
   * kept stops listening first, so that new connections wait for the next process.
   */
  drain(others?: Promise<unknown>): Promise<void>;
  /** Stops listening, and closes every connection. */
  close(): void;
}

/** An address to listen on; with a certificate, every connection needs TLS. */
export interface PortAddress extends ListenPlace {
  /** Where the connections come from. Default: the port listens itself. */
  readonly source?: ConnectionSource | undefined;
  readonly certificate?: ServedCertificate | undefined;
}

/**
 * Listens for HTTP/1.1 (with WebSocket upgrades) and HTTP/2 on one port. In cleartext, the first
 * bytes of a connection determine its protocol; with TLS, ALPN does.
 */
export async function openPort(
  at: PortAddress,
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
  const http2 = openHttp2(watched, { unsent, idleMsMax: limits.idleMsMax });
  const { certificate } = at;
  const connections = new Connections(limits.connections, {
    makeRoom: () => http1.closeIdleConnections(),
    // An error in cleartext would be nothing to a client that expects TLS.
    isAnswering: certificate === undefined,
    turnedAway: handlers.turnedAway,
  });
  /** Connections whose protocol is not yet known. */
  const silent = new Set<Socket>();
  /** Serves a connection, which TLS has decrypted if there is a certificate. */
  const begin = (socket: Socket, isHttp2: boolean): void => {
    if (isHttp2) {
      http2.serve(socket);
      return;
    }
    unsent.watchSocket(socket);
    http1.emit("connection", socket);
  };
  const detect = detector(certificate, limits.headersMsMax, begin);
  const listener = at.source ?? (await openListener(at));
  listener.listen((socket) => {
    if (!connections.admit(socket)) return;
    silent.add(socket);
    const isKnown = () => silent.delete(socket);
    socket.once("close", isKnown);
    detect(socket, isKnown);
  });
  const { closed } = listener;

  const retire = async (): Promise<void> => {
    const ended = calls.end();
    http2.sayGoaway();
    await ended;
  };

  return {
    address: addressOf(listener.bound, certificate ? "https" : "http"),
    callsInFlight: () => calls.count,
    connections: () => connections.open.length,
    retire,
    async drain(others) {
      if (listener.isKept) listener.close();
      const hasCallers = connections.open.length > 0;
      await Promise.race([
        Promise.all([retire(), others, hasCallers && sleep(lastRequestsMs)]),
        closed,
      ]);
      // No other process can answer what this one has accepted.
      if (listener.isKept) await untilEmpty(silent, firstBytesMs);
      listener.close();
      http2.close();
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

/** Waits until no connection is left here, for at most `msMax`. */
async function untilEmpty(connections: ReadonlySet<Socket>, msMax: number): Promise<void> {
  const endAt = performance.now() + msMax;
  while (connections.size > 0 && performance.now() < endAt) await sleep(20);
}

/**
 * Returns a function that finds the protocol of a connection, calls `isKnown`, and then begins to
 * serve the connection.
 */
function detector(
  certificate: ServedCertificate | undefined,
  msMax: number,
  begin: (socket: Socket, isHttp2: boolean) => void,
): (socket: Socket, isKnown: () => void) => void {
  if (!certificate) {
    return (socket, isKnown) =>
      detectProtocol(socket, msMax, (isHttp2) => {
        isKnown();
        begin(socket, isHttp2);
      });
  }
  const accept = acceptTls(certificate, msMax);
  return (socket, isKnown) =>
    accept(socket, (secure, isHttp2) => {
      const start = () => {
        isKnown();
        begin(secure, isHttp2);
      };
      // Before its first request, Node does not take an HTTP/1.1 connection for idle.
      if (isHttp2) start();
      else detectProtocol(secure, msMax, start);
    });
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

function addressOf({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
