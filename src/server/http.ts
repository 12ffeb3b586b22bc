import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";
import { bodyIntakeOf, isShortBody } from "./body-intake.ts";
import { bodyLimits, BodyPace, type BodyLimits } from "./body-pace.ts";
import { ByteCollector, tooLarge } from "./byte-collector.ts";

/** A request of either protocol version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => Promise<void>;
/** A handler that answers its own failures. */
export type HttpListener = (request: HttpRequest, response: HttpResponse) => void;

/** The headers of a request as fetch has them; HTTP/2 pseudo headers are left out. */
export function headersOf(request: Pick<HttpRequest, "headers">): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/**
 * One header of a request, by its name in lower case; values that came apart are joined by commas.
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

/** A whole answer; `headers` has its type. */
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
 * The status and headers of an answer; over HTTP/1.1 they go out with the first bytes of the body,
 * or flushHead().
 */
export function writeHead(
  response: HttpResponse,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  // One line for each version: the types of Node do not see that the calls are alike.
  if (response instanceof Http2ServerResponse) response.writeHead(status, headers);
  else response.writeHead(status, headers);
}

export function flushHead(response: HttpResponse): void {
  // HTTP/2 has sent them by now.
  if (!(response instanceof Http2ServerResponse)) response.flushHeaders();
}

/** A part of the body. false: wait for "drain" before the next. */
export function writePart(response: HttpResponse, part: string | Uint8Array): boolean {
  if (response instanceof Http2ServerResponse) return response.write(bytesOf(part));
  return response.write(part);
}

/** The last part of the body; it may be empty. */
export function endBody(response: HttpResponse, part: string | Uint8Array): void {
  if (part.length === 0) response.end();
  else if (response instanceof Http2ServerResponse) response.end(bytesOf(part));
  else response.end(part);
}

/**
 * Node 24 sends freed memory where strings are written to a stream of HTTP/2 and its end is an
 * empty one: it gets bytes.
 */
function bytesOf(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part) : part;
}

/** Whether nothing can be written any more: the answer is out, or the caller gone. */
export function isClosed(response: HttpResponse): boolean {
  return response instanceof Http2ServerResponse ? response.stream.closed : response.closed;
}

/**
 * Ends an answer that is not whole, so that the caller sees it: without a last chunk, or with a
 * reset of the stream.
 */
export function breakOff(response: HttpResponse): void {
  if (response instanceof Http2ServerResponse) {
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  } else {
    response.destroy();
  }
}

/** How long a caller whose stream is ended has to take what it is told. */
export const closeGraceMs = 2_000;

/** Breaks off what has not ended by itself in a moment. */
export function breakOffSoon(response: HttpResponse): void {
  if (isClosed(response)) return;
  const timer = setTimeout(() => {
    breakOff(response);
  }, closeGraceMs);
  response.once("close", () => {
    clearTimeout(timer);
  });
}

/** Answers a failure, or breaks off when an answer has begun already. */
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
  // The end of the answer closes the connection: a caller that still sends would lose it.
  headers["content-type"] = "application/json";
  beginContent(response, status, body, headers);
  writePart(response, body);
  void dropped.then(() => response.end());
}

/**
 * Tells a caller that waits with its body (Expect: 100-continue; RFC 9110, section 10.1.1) to send
 * it.
 */
export function askForBody(request: HttpRequest, response: HttpResponse): void {
  if (!isWaitingToSend(request)) return;
  // Taken back with the bytes that made it: Node throws where the stream of HTTP/2 is gone.
  if (response instanceof Http2ServerResponse && (isClosed(response) || response.stream.destroyed))
    return;
  asked.add(request);
  response.writeContinue();
}

/** Whether the caller sends no body before it is asked. */
export function isWaitingToSend(request: HttpRequest): boolean {
  return /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? "") && !asked.has(request);
}

const asked = new WeakSet<HttpRequest>();

/**
 * What still comes of a refused request is read and dropped at a bounded rate, so that the caller
 * sees the answer. A promise where the answer is to be the connection's last: its end waits for
 * that.
 */
export function giveUpReading(response: HttpResponse): Promise<void> | undefined {
  const { req } = response;
  if (req.complete || req.destroyed) return undefined;
  if (isWaitingToSend(req)) {
    // Whether the body comes all the same is the caller's choice: what follows here may be it, or
    // another request.
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
 * How long the rest of a refused request of HTTP/2 may take; its windows bound how fast it comes.
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
 * Reads a whole body of at most `bytesMax`, which is held in the share as it comes. Throws
 * invalid_argument with status 413 past it, resource_exhausted where the share may not grow,
 * deadline_exceeded when nothing comes for 30 s or it comes too slowly, cancelled when the caller
 * goes away.
 */
export async function readBody(
  request: HttpRequest,
  bytesMax: number,
  share: HeldShare,
  limits: BodyLimits = bodyLimits,
): Promise<Uint8Array> {
  if (hasNoBody(request)) return nothing;
  // Its "close" is over: nobody would tell.
  if (request.destroyed) throw new ServiceError("cancelled", "the caller went away");
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const collector = new ByteCollector(bytesMax, share);
  return await new Promise((resolve, reject) => {
    const pace = new BodyPace(limits);
    const look = () => {
      const leftMs = pace.leftMs();
      if (leftMs > 0) timer = setTimeout(look, leftMs);
      else {
        settle(() => {
          reject(pace.failure());
        });
      }
    };
    let timer = setTimeout(look, limits.idleMsMax);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.on("error", ignore);
      finish();
    };
    const onData = (chunk: Buffer) => {
      pace.came(chunk.length);
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
        reject(new ServiceError("cancelled", "the caller went away"));
      });
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

const nothing = new Uint8Array();

/**
 * Whether the headers say that nothing follows them (RFC 9112, section 6.3; RFC 9113, section 8.1).
 */
function hasNoBody(request: HttpRequest): boolean {
  if (request instanceof Http2ServerRequest) return request.stream.endAfterHeaders;
  const { headers } = request;
  return headers["content-length"] === undefined && headers["transfer-encoding"] === undefined;
}

function ignore(): void {}
