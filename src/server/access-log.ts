import type { IncomingMessage } from "node:http";
import { Http2ServerResponse } from "node:http2";
import type { Duplex } from "node:stream";
import { shareOf, type Log } from "../std/log.ts";
import type { CallNote } from "../tracing/tracing.ts";
import { headerOf, type HttpRequest, type HttpResponse } from "./http.ts";

/** The log of calls; each has one line when it has ended. */
export interface AccessLog {
  readonly log: Log;
  /** The share of calls that have a line, 0 to 1. */
  readonly sample: number;
}

/** The codes of failures that are not the caller's. They are always logged. */
const failures: ReadonlySet<string> = new Set(["internal", "unknown", "unavailable", "data_loss"]);

/** Logs a call over HTTP when its response has closed. Returns the note to which its facts go. */
export function logAccess(
  { log, sample }: AccessLog,
  request: HttpRequest,
  response: HttpResponse,
  requestId: string,
): CallNote {
  const note: CallNote = { method: request.method ?? "", protocol: protocolOf(request) };
  const bytesOf = countBytes(response);
  const beganAt = performance.now();
  response.once("close", () => {
    const { statusCode: status, writableFinished } = response;
    const code = note.code ?? (writableFinished ? (status < 400 ? "ok" : "unknown") : "cancelled");
    const isFailure = status >= 500 || failures.has(code);
    if (!isFailure && shareOf(requestId) >= sample) return;
    const ms = Math.round(performance.now() - beganAt);
    log.info({ requestId, ...note, code, status, ms, bytes: bytesOf() }, "call.ended");
  });
  return note;
}

/** Logs a call over WebSocket when its socket has closed. */
export function logSocket(
  { log, sample }: AccessLog,
  request: IncomingMessage,
  socket: Duplex & { readonly bytesWritten?: number },
  requestId: string,
): CallNote {
  const note: CallNote = { method: request.method ?? "", protocol: "websocket" };
  const beganAt = performance.now();
  const before = socket.bytesWritten ?? 0;
  socket.once("close", () => {
    const { code = "ok" } = note;
    if (!failures.has(code) && shareOf(requestId) >= sample) return;
    const ms = Math.round(performance.now() - beganAt);
    const bytes = (socket.bytesWritten ?? 0) - before;
    log.info({ requestId, ...note, code, ms, bytes }, "call.ended");
  });
  return note;
}

function protocolOf(request: HttpRequest): string {
  const [type = ""] = (headerOf(request, "content-type") ?? "").split(/[+;]/);
  if (type === "application/grpc") return "grpc";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return request.httpVersionMajor > 1 ? "http/2" : "http/1.1";
}

/** Returns a function for the bytes sent: with headers over HTTP/1.1, without over HTTP/2. */
function countBytes(response: HttpResponse): () => number {
  if (!(response instanceof Http2ServerResponse)) {
    const { socket } = response;
    const before = socket?.bytesWritten ?? 0;
    return () => (socket?.bytesWritten ?? 0) - before;
  }
  let bytes = 0;
  const write: unknown = response.write.bind(response);
  if (typeof write !== "function") return () => bytes;
  // end() of this class writes its last chunk with write().
  response.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    bytes += Buffer.byteLength(chunk);
    return Boolean(Reflect.apply(write, response, [chunk, ...rest]));
  };
  return () => bytes;
}
