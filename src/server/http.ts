import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { HeldShare } from "../std/held-bytes.ts";
import type { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";
import { clientGone } from "./client-gone.ts";
import { bodyIntakeOf, isShortBody } from "./body-intake.ts";
import { bodyLimits, BodyPace, type BodyLimits } from "./body-pace.ts";
import { ByteCollector, tooLarge } from "./byte-collector.ts";

/** A request of either protocol version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => Promise<void>;
/** A handler that answers its own failures. */
export type HttpListener = (request: HttpRequest, response: HttpResponse) => void;

/** The server side of some of the requests on the port. */
export interface HttpDoor {
  handles(request: HttpRequest): boolean;
  handle(request: HttpRequest, response: HttpResponse): Promise<void>;
  /**
   * Whether the door itself sends 100 Continue, after it has checked the headers. Default: it is
   * sent before the door is called.
   */
  readonly asksForBody?: boolean;
  /** Whether the door answers requests without a Host header, which some load balancers send. */
  readonly needsNoHost?: boolean;
}

/** The headers of a request as an object of fetch, without HTTP/2 pseudo headers. */
export function headersOf(request: Pick<HttpRequest, "headers">): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/**
 * One header of a request, by its name in lower case; repeated headers are joined by commas.
 */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * The path and query as sent, without the origin that a proxy request carries (RFC 9112, section
 * 3.2.2).
 */
export function targetOf(request: HttpRequest): string {
  const target = request.url ?? "/";
  if (target.startsWith("/")) return target;
  const own = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return own.startsWith("/") || own === target ? own : `/${own}`;
}

export function answerJson(
  response: HttpResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  answerContent(response, status, body, { "content-type": "application/json", ...headers });
}

/** Sends a complete answer; `headers` has its Content-Type. */
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
 * Writes the status and headers of an answer. Over HTTP/1.1 they are sent with the first bytes of
 * the body, or by flushHead().
 */
export function writeHead(
  response: HttpResponse,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  // One line for each version: the types of Node have no common signature.
  if (response instanceof Http2ServerResponse) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

export function flushHead(response: HttpResponse): void {
  // Over HTTP/2 they are sent already.
  if (!(response instanceof Http2ServerResponse)) response.flushHeaders();
}

/** Writes a part of the body. false: wait for "drain" before the next. */
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
 * HTTP/2 streams get bytes: Node 24 sends freed memory when strings are written to a stream whose
 * last write is empty.
 */
function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part) : part;
}

/** Whether nothing can be written any more: the answer was sent, or the client is gone. */
export function isClosed(response: HttpResponse): boolean {
  return response instanceof Http2ServerResponse ? response.stream.closed : response.closed;
}

/**
 * Aborts an incomplete answer in a way that the client can detect: without a last chunk, or with a
 * reset of the stream.
 */
export function breakOff(response: HttpResponse): void {
  if (response instanceof Http2ServerResponse) {
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    response.destroy();
  }
}

/** How long a client has to read the error that ended its stream and to close the connection. */
export const closeGraceMs = 2_000;

/** Aborts an answer that has not ended after `closeGraceMs`. */
export function breakOffSoon(response: HttpResponse): void {
  if (isClosed(response)) return;
  const timer = setTimeout(() => {
    breakOff(response);
  }, closeGraceMs);
  response.once("close", () => {
    clearTimeout(timer);
  });
}

/** Answers with an error, or aborts an answer that was begun already. */
export function answerFailure(response: HttpResponse, error: ServiceError): void {
  if (response.headersSent) {
    breakOff(response);
    return;
  }
  const dropped = giveUpReading(response);
  const { status, headers, body } = errorBody(error);
  // RFC 9110, section 15.5.22; HTTP/2 has no such header.
  if (status === 426 && response.req.httpVersionMajor === 1) headers["upgrade"] = "websocket";
  if (dropped === undefined) {
    answerJson(response, status, body, headers);
    return;
  }
  // The end of the answer closes the connection: a client that still sends would lose the answer.
  headers["content-type"] = "application/json";
  beginContent(response, status, body, headers);
  writePart(response, body);
  void dropped.then(() => response.end());
}

/**
 * Sends 100 Continue to a client that waits for it before it sends its body (RFC 9110, section
 * 10.1.1).
 */
export function askForBody(request: HttpRequest, response: HttpResponse): void {
  if (!isWaitingToSend(request)) return;
  // The call may be cancelled in the packet that opened it: Node throws if its HTTP/2 stream is
  // gone.
  if (response instanceof Http2ServerResponse && (isClosed(response) || response.stream.destroyed))
    return;
  asked.add(request);
  response.writeContinue();
}

/** Whether the client waits for 100 Continue before it sends its body. */
export function isWaitingToSend(request: HttpRequest): boolean {
  return /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? "") && !asked.has(request);
}

const asked = new WeakSet<HttpRequest>();

/**
 * Reads and drops the rest of a refused request at a bounded rate, so that the client receives the
 * answer. Returns a promise if the answer must be the last one of the connection: end it when the
 * promise resolves.
 */
export function giveUpReading(response: HttpResponse): Promise<void> | undefined {
  const { req } = response;
  if (req.complete || req.destroyed) return undefined;
  if (isWaitingToSend(req)) {
    // The client may send the body all the same, so the next bytes can be the body or another
    // request.
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
 * How long the rest of a refused request over HTTP/2 may take; flow control bounds its rate.
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
 * Reads a body of at most `bytesMax`; the share counts its bytes as they arrive. Throws
 * invalid_argument with status 413 for a longer one, resource_exhausted if the share may not grow,
 * deadline_exceeded if it stalls for 30 s or arrives too slowly, cancelled if the client closes the
 * request.
 */
export async function readBody(
  request: HttpRequest,
  bytesMax: number,
  share: HeldShare,
  limits: BodyLimits = bodyLimits,
): Promise<Uint8Array> {
  if (hasNoBody(request)) return nothing;
  // "close" has already been emitted, and would not be received here.
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

/** Whether the headers announce no body (RFC 9112, section 6.3; RFC 9113, section 8.1). */
function hasNoBody(request: HttpRequest): boolean {
  if (request instanceof Http2ServerRequest) return request.stream.endAfterHeaders;
  const { headers } = request;
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function ignore(): void {}
