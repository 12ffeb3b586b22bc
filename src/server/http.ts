import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { HeldShare } from "../std/held-bytes.ts";
import type { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";
import { clientGone } from "./client-gone.ts";
import { bodyIntakeOf, isShortBody } from "./body-intake.ts";
import { bodyLimits, BodyPace, type BodyLimits } from "./body-pace.ts";
import { ByteCollector, tooLarge } from "./byte-collector.ts";

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

function beginContent(
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

/** A whole response to a failed call. `headers` contains its Content-Type. */
export interface FailureAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * Responds with an error, or aborts a response that has already begun. `answerOf` returns the
 * response; by default it is that of the API.
 */
export function answerFailure(
  response: HttpResponse,
  error: ServiceError,
  answerOf: (error: ServiceError) => FailureAnswer = errorBody,
): void {
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const dropped = giveUpReading(response);
  const { status, headers, body } = answerOf(error);
  // RFC 9110, section 15.5.22, requires this header. HTTP/2 has no such header.
  if (status === 426 && response.req.httpVersionMajor === 1) headers["upgrade"] = "websocket";
  if (dropped === undefined) {
    answerJson(response, status, body, headers);
    return;
  }
  // The end of the response closes the connection, so a client that is still sending would lose the
  // response.
  beginContent(response, status, body, headers);
  writePart(response, body);
  void dropped.then(() => response.end());
}

/**
 * Sends 100 Continue to a client that waits for it before sending its body (RFC 9110, section
 * 10.1.1).
 */
export function askForBody(request: HttpRequest, response: HttpResponse): void {
  if (!isWaitingToSend(request)) return;
  // The packet that opened the call may also cancel it. Node throws if the HTTP/2 stream no longer
  // exists.
  if (response instanceof Http2ServerResponse && (isClosed(response) || response.stream.destroyed))
    return;
  asked.add(request);
  response.writeContinue();
}

/** Returns whether the client waits for 100 Continue before it sends its body. */
export function isWaitingToSend(request: HttpRequest): boolean {
  return /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? "") && !asked.has(request);
}

const asked = new WeakSet<HttpRequest>();

/**
 * Reads and discards the rest of a refused request at a bounded rate, so that the client receives
 * the response. If the response must be the last one on the connection, returns a promise: end the
 * response when the promise resolves.
 */
export function giveUpReading(response: HttpResponse): Promise<void> | undefined {
  const { req } = response;
  if (req.complete || req.destroyed) return undefined;
  if (isWaitingToSend(req)) {
    // The client may send the body anyway, so the next bytes can be the body or another request.
    if (!(response instanceof Http2ServerResponse)) response.shouldKeepAlive = false;
    return undefined;
  }
  req.on("error", ignore);
  const dropped = bodyIntakeOf(req)?.drop() ?? dropRest(req);
  if (response instanceof Http2ServerResponse || isShortBody(req)) {
    void dropped.then(() => !req.complete && req.destroy());
    return undefined;
  }
  if (!response.headersSent) {
    response.shouldKeepAlive = false;
    return dropped;
  }
  void dropped.then(() => !req.complete && req.destroy());
  return undefined;
}

/**
 * The maximum time for the rest of a refused request over HTTP/2. Flow control bounds its rate.
 */
const droppedMsMax = 5_000;

async function dropRest(request: HttpRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, droppedMsMax).unref();
  request.once("end", resolve).once("close", resolve).resume();
  await promise;
  clearTimeout(timer);
}

/**
 * Reads a body of at most `bytesMax`. The share counts the bytes as they arrive. Throws
 * invalid_argument with status 413 for a longer body, and resource_exhausted if the share may not
 * grow. Throws deadline_exceeded if the body stalls for 30 s or arrives too slowly, and cancelled
 * if the client closes the request.
 */
export async function readBody(
  request: HttpRequest,
  bytesMax: number,
  share: HeldShare,
  limits: BodyLimits = bodyLimits,
): Promise<Uint8Array> {
  if (hasNoBody(request)) return nothing;
  // "close" has already been emitted, so a listener added here would not receive it.
  if (request.destroyed) throw clientGone();
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const collector = new ByteCollector(bytesMax, share);
  return await new Promise((resolve, reject) => {
    const pace = new BodyPace(limits);
    const check = () => {
      const leftMs = pace.leftMs();
      if (leftMs > 0) timer = setTimeout(check, leftMs);
      else {
        settle(() => {
          reject(pace.failure());
        });
      }
    };
    let timer = setTimeout(check, limits.idleMsMax);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.on("error", ignore);
      finish();
    };
    const onData = (chunk: Buffer) => {
      pace.add(chunk.length);
      try {
        collector.add(chunk);
      } catch (error) {
        settle(() => {
          reject(error);
        });
      }
    };
    const onEnd = () => {
      settle(() => {
        resolve(collector.take());
      });
    };
    const onGone = () => {
      settle(() => {
        reject(clientGone());
      });
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

const nothing = new Uint8Array();

/** Returns whether the headers announce no body (RFC 9112, section 6.3; RFC 9113, section 8.1). */
function hasNoBody(request: HttpRequest): boolean {
  if (request instanceof Http2ServerRequest) return request.stream.endAfterHeaders;
  const { headers } = request;
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function ignore(): void {}
