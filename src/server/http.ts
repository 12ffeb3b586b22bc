import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request over either protocol version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => Promise<void>;
/** A handler that reports its own failures to the client. */
export type HttpListener = (request: HttpRequest, response: HttpResponse) => void;

/** The server side of some of the requests on the port. */
export interface HttpDoor {
  handles(request: HttpRequest): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
  /**
   * Whether the door itself sends 100 Continue after checking the headers. By default, 100 Continue
   * is sent before the door is called.
   */
  readonly asksForBody?: boolean;
  /**
   * Whether the door answers calls while the service shuts down, or refuses them in its own form.
   * By default, they are refused before the door is called.
   */
  readonly refusesByItself?: boolean;
  /** Whether the door handles requests without a Host header, which some load balancers send. */
  readonly needsNoHost?: boolean;
  /** Whether the door answers the probes of monitoring, which are neither traced nor logged. */
  readonly isForProbes?: boolean;
}

/** Returns the headers of a request as a fetch Headers object, without HTTP/2 pseudo headers. */
export function headersOf(request: Pick<HttpRequest, "headers">): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/**
 * Returns one header of a request, by its name in lower case. Repeated headers are joined by
 * commas.
 */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * Returns the path and query as sent, without the origin that a proxy request contains (RFC 9112,
 * section 3.2.2).
 */
export function targetOf(request: HttpRequest): string {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  const own = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return own.startsWith("/") || own === target ? own : `/${own}`;
}

/**
 * Returns a request target with the colon before a verb unescaped, as some clients escape it. Names
 * of resources contain no colon, so an escaped one cannot be data.
 */
export function plainVerb(target: string): string {
  const [path = "", ...query] = target.split("?");
  const plain = path.replace(/%3a(?=[^/%]*$)/i, ":");
  return [plain, ...query].join("?");
}

export function answerJson(
  response: HttpResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  answerContent(response, status, body, { "content-type": "application/json", ...headers });
}

/** Sends a complete response. `headers` contains its Content-Type. */
export function answerContent(
  response: HttpResponse,
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): void {
  beginContent(response, status, body, headers);
  endBody(response, body);
}

/** Sends the status and headers of a response whose body follows, and has this length. */
export function beginContent(
  response: HttpResponse,
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
): void {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  writeHead(response, status, {
    "content-length": length,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
  });
}

/**
 * Writes the status and headers of a response. Over HTTP/1.1, they are sent with the first bytes of
 * the body, or by flushHead().
 */
export function writeHead(
  response: HttpResponse,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  // The call is written once for each version, because Node's types have no common signature.
  if (response instanceof Http2ServerResponse) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

export function flushHead(response: HttpResponse): void {
  // Over HTTP/2, the headers have already been sent.
  if (!(response instanceof Http2ServerResponse)) response.flushHeaders();
}

/**
 * Writes part of the body. Returns false if the caller must wait for "drain" before writing the
 * next part.
 */
export function writePart(response: HttpResponse, part: string | Uint8Array): boolean {
  if (response instanceof Http2ServerResponse) return response.write(bytesOf(part));
  return response.write(part);
}

/** Writes the last part of the body, which may be empty. */
export function endBody(response: HttpResponse, part: string | Uint8Array): void {
  if (part.length === 0) response.end();
  else if (response instanceof Http2ServerResponse) response.end(bytesOf(part));
  else response.end(part);
}

/**
 * HTTP/2 streams are given bytes, because Node 24 sends freed memory when strings are written to a
 * stream whose last write is empty.
 */
function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part) : part;
}

/**
 * Returns whether nothing more can be written, because the response was sent or the client has
 * disconnected.
 */
export function isClosed(response: HttpResponse): boolean {
  return response instanceof Http2ServerResponse ? response.stream.closed : response.closed;
}

/** Returns whether the client has closed the request or the connection. */
export function isClientGone(request: HttpRequest, response: HttpResponse): boolean {
  return isClosed(response) || request.destroyed || request.socket.destroyed;
}

/**
 * Aborts an incomplete response in a way that the client can detect: without a last chunk, or with
 * a stream reset.
 */
export function breakOff(response: HttpResponse): void {
  if (response instanceof Http2ServerResponse) {
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    response.destroy();
  }
}

/**
 * The time that a client has to read the error that ended its stream and to close the connection.
 */
export const closeGraceMs = 2_000;

/** Aborts a response that has not ended after `closeGraceMs`. */
export function breakOffSoon(response: HttpResponse): void {
  if (isClosed(response)) return;
  const timer = setTimeout(() => {
    breakOff(response);
  }, closeGraceMs);
  response.once("close", () => {
    clearTimeout(timer);
  });
}
