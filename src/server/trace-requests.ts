import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { startSpan, within, type Span } from "../tracing/tracing.ts";
import { logAccess, logSocket, type AccessLog } from "./access-log.ts";
import { headerOf, type HttpRequest, type HttpResponse } from "./http.ts";

/** The HTTP methods that spans name; any other is "_OTHER", so that no caller makes up names. */
const knownMethods: ReadonlySet<string> = new Set(
  "GET HEAD POST PUT PATCH DELETE OPTIONS".split(" "),
);

/**
 * Answers a request within its span, which continues the trace of the caller (traceparent). Without
 * tracing, only log lines name the request. The access log, if there is one, gets a line.
 */
export function traceRequest(
  request: HttpRequest,
  response: HttpResponse,
  {
    requestId,
    answer,
    access,
  }: {
    readonly requestId: string;
    readonly answer: () => void;
    readonly access: AccessLog | undefined;
  },
): void {
  const span = requestSpan(request);
  if (span) {
    response.once("close", () => {
      const { statusCode } = response;
      span.set({ "http.response.status_code": statusCode });
      if (statusCode >= 500) span.fail(String(statusCode));
      span.end();
    });
  }
  const note = access && logAccess(access, request, response, requestId);
  within({ requestId, span, note }, answer);
}

/** Opens a WebSocket within its span, which ends when the stream is open or the socket closes. */
export function traceUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  {
    requestId,
    open,
    access,
  }: {
    readonly requestId: string;
    readonly open: () => void;
    readonly access: AccessLog | undefined;
  },
): void {
  const span = requestSpan(request);
  if (span) socket.once("close", () => span.end());
  const note = access && logSocket(access, request, socket, requestId);
  within({ requestId, span, note }, open);
}

function requestSpan(request: HttpRequest): Span | undefined {
  const method = request.method ?? "";
  const name = knownMethods.has(method) ? method : "_OTHER";
  return startSpan(name, {
    kind: "server",
    parent: headerOf(request, "traceparent") ?? "",
    attributes: {
      "http.request.method": name,
      "network.protocol.version": String(request.httpVersionMajor),
    },
  });
}
