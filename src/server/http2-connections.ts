import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { PortHandlers } from "./pump-calls.ts";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import type { UnsentWatch } from "./unsent-watch.ts";

/** The maximum delay between the body of a response and its trailers. */
const trailersMs = 200;
/** The time after which a connection that was asked to close is destroyed. */
const endMsMax = 5_000;
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

/** The HTTP/2 connections of a port. */
export interface Http2Connections {
  /** Serves a connection, which may be encrypted. */
  serve(socket: Socket): void;
  /** Asks every client to disconnect. */
  sayGoaway(): void;
  /** Closes each connection as soon as it has no call. */
  close(): void;
}

/** Connections without a call are closed after `idleMsMax`. */
export function openHttp2(
  handlers: PortHandlers,
  { unsent, idleMsMax }: { readonly unsent: UnsentWatch; readonly idleMsMax: number },
): Http2Connections {
  const http2 = createHttp2(handlers, unsent);
  const sessions = new Map<ServerHttp2Session, Socket>();
  return {
    serve(socket) {
      http2.once("session", (session) => {
        sessions.set(session, socket);
        session.once("close", () => sessions.delete(session));
        endWhenIdle(session, socket, idleMsMax);
      });
      http2.emit("connection", socket);
    },
    sayGoaway: () => sayGoaway(sessions),
    close() {
      for (const session of sessions.keys()) session.close();
    },
  };
}

function createHttp2(handlers: PortHandlers, unsent: UnsentWatch): Http2Server {
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

/**
 * Node always writes whole frames, so a write to a cleartext connection does not split a frame. A
 * TLS connection takes no second write while Node's own is in progress, so Node sends its GOAWAY
 * there: the client repeats calls that it had already sent, and calls in flight continue.
 */
function sayGoaway(sessions: ReadonlyMap<ServerHttp2Session, Socket>): void {
  for (const [session, socket] of sessions) {
    if (session.closed || !socket.writable) continue;
    if (socket instanceof TLSSocket) {
      session.once("close", () => setTimeout(() => socket.destroy(), endMsMax).unref());
      session.close();
    } else {
      socket.write(gentleGoaway);
    }
  }
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
