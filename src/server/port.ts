import { once } from "node:events";
import { createServer as createHttp1Server, type IncomingMessage } from "node:http";
import { constants, createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HttpListener } from "./http.ts";

/** What an HTTP/2 client with prior knowledge sends first (RFC 9113, section 3.4). */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
/** A connection that does not say what it speaks is closed after this. */
const silenceMsMax = 10_000;
const headersMsMax = 10_000;
/** A connection without a call is kept this long, unless told otherwise. */
const idleMsMaxDefault = 75_000;
/** A peer of an idle connection is looked for after this, and given up some minutes later. */
const keepAliveMs = 60_000;
/** Trailers of an answer have gone out this long after its body. */
const trailersMs = 200;

export interface Port {
  /** http://<host>:<port>, as bound. */
  readonly address: string;
  /** Takes no more connections and lets idle ones go; resolves when the last one is closed. */
  drain(): Promise<void>;
  /** Cuts every connection. */
  close(): void;
}

/** Listens for cleartext HTTP/1.1 (with WebSocket upgrades) and HTTP/2 on one port, told apart by the first bytes. */
export async function openPort(
  at: { readonly host: string; readonly port: number; readonly idleMsMax?: number },
  doors: {
    readonly handle: HttpListener;
    /** Answers what is not HTTP; `code` is Node's, for example HPE_HEADER_OVERFLOW. */
    readonly refuse: (code: string, socket: Duplex) => void;
    readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  },
): Promise<Port> {
  const { idleMsMax = idleMsMaxDefault } = at;
  const http1 = createHttp1Server(
    {
      headersTimeout: headersMsMax,
      // A body may take long: an upload of gigabytes. Bodies have idle limits of their own.
      requestTimeout: 0,
      keepAliveTimeout: idleMsMax,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      // Asked for by our own doors, which say so in our own words.
      requireHostHeader: false,
      // Other upgrades, such as curl's to h2c, are declined by answering as if they were not there (RFC 9110, section 7.8).
      shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
    },
    doors.handle,
  );
  // The doors ask for the body themselves.
  http1.on("checkContinue", doors.handle);
  http1.on("upgrade", doors.upgrade);
  http1.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    doors.refuse(error.code ?? "", socket);
  });
  // Without it the server never looks for headers that are late: it does not listen itself.
  http1.emit("listening");
  const http2 = createHttp2Server({ settings: { maxConcurrentStreams: 256 } }, doors.handle);
  http2.on("checkContinue", doors.handle);
  // A whole answer ends the stream, also when the caller has more to send (RFC 9113, section 8.1). Its trailers go out after
  // "finish", and there is no event for that.
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
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    let calls = 0;
    session.on("stream", (stream) => {
      calls += 1;
      stream.once("close", () => {
        calls -= 1;
      });
    });
    // Calls that are silent for long, such as Watch of gRPC's health, keep their connection.
    session.setTimeout(idleMsMax);
    session.on("timeout", () => {
      if (calls === 0) session.close();
      else session.setTimeout(idleMsMax);
    });
    session.once("close", () => sessions.delete(session));
  });
  // A broken session ends with its socket; there is nobody to tell.
  http2.on("sessionError", () => {});

  const sockets = new Set<Socket>();
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: keepAliveMs };
  const listener = createServer({ noDelay: true, ...keepAlive }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    tellProtocol(socket, (isHttp2) => {
      (isHttp2 ? http2 : http1).emit("connection", socket);
    });
  });
  listener.listen(at.port, at.host);
  await once(listener, "listening");

  return {
    address: addressOf(listener.address()),
    async drain() {
      const closed = once(listener, "close");
      listener.close();
      for (const session of sessions) session.close();
      // Node closes a connection after its answer only when it is told at each request; look again until none is left.
      const sweep = setInterval(() => {
        http1.closeIdleConnections();
      }, 100);
      http1.closeIdleConnections();
      await closed;
      clearInterval(sweep);
      http1.close();
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads up to 24 bytes, puts them back, and tells whether they are the preface of HTTP/2. */
function tellProtocol(socket: Socket, told: (isHttp2: boolean) => void): void {
  const destroy = () => {
    socket.destroy();
  };
  let head = Buffer.alloc(0);
  const onReadable = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    head = Buffer.concat([head, chunk]);
    const length = Math.min(head.length, preface.length);
    const isPrefix = head.compare(preface, 0, length, 0, length) === 0;
    if (isPrefix && length < preface.length) return;
    socket.off("readable", onReadable);
    socket.off("error", destroy);
    socket.off("timeout", destroy);
    socket.setTimeout(0);
    socket.unshift(head);
    told(isPrefix);
  };
  socket.on("error", destroy);
  socket.on("timeout", destroy);
  socket.setTimeout(silenceMsMax);
  socket.on("readable", onReadable);
}

function addressOf(bound: string | AddressInfo | null): string {
  if (bound === null || typeof bound === "string") throw new Error("the port is not bound");
  const { address, family, port } = bound;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
