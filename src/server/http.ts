import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";

/** A request of either protocol version. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;
export type HttpHandler = (request: HttpRequest, response: HttpResponse) => Promise<void>;
/** A handler that answers its own failures. */
export type HttpListener = (request: HttpRequest, response: HttpResponse) => void;

/** The headers of a request as fetch has them; HTTP/2 pseudo headers are left out. */
export function headersOf(request: HttpRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/** The path and query as sent, without the origin that a proxy request carries (RFC 9112, section 3.2.2). */
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
  const bytes = Buffer.from(body);
  writeHead(response, status, {
    "content-type": "application/json",
    "content-length": `${bytes.length}`,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    ...headers,
  });
  response.end(bytes);
}

/** Answers a failure, or ends the connection when an answer has begun already. */
export function answerFailure(response: HttpResponse, error: ServiceError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  giveUpReading(response);
  const { status, headers, body } = errorBody(error);
  // RFC 9110, section 15.5.22; HTTP/2 has no such header.
  if (status === 426 && response.req.httpVersionMajor === 1) headers["upgrade"] = "websocket";
  answerJson(response, status, body, headers);
}

/** What still comes of a refused request is read and dropped, so that the caller sees the answer; but not for ever. */
function giveUpReading({ req }: HttpResponse): void {
  if (req.complete || req.destroyed) return;
  req.on("error", ignore);
  req.resume();
  const timer = setTimeout(() => req.destroy(), droppedMsMax);
  timer.unref();
  req.once("close", () => {
    clearTimeout(timer);
  });
}

function writeHead(response: HttpResponse, status: number, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
}

/** How long the rest of a refused request may take. */
const droppedMsMax = 5_000;
/** A body that stands still this long is given up. */
const bodyIdleMsMax = 30_000;

/**
 * Reads a whole body of at most `bytesMax`. Throws invalid_argument with status 413 past it, deadline_exceeded when nothing comes
 * for 30 s, cancelled when the caller goes away.
 */
export async function readBody(request: HttpRequest, bytesMax: number): Promise<Uint8Array> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > bytesMax) throw tooLarge(bytesMax);
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise((resolve, reject) => {
    const idle = setTimeout(() => {
      settle(() => {
        reject(new ServiceError("deadline_exceeded", "the body stood still for 30 s"));
      });
    }, bodyIdleMsMax);
    const settle = (finish: () => void) => {
      clearTimeout(idle);
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      request.on("error", ignore);
      finish();
    };
    const onData = (chunk: Buffer) => {
      idle.refresh();
      size += chunk.length;
      if (size <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      settle(() => {
        reject(tooLarge(bytesMax));
      });
    };
    const onEnd = () => {
      settle(() => {
        resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
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

function ignore(): void {}

function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError("invalid_argument", `the body is larger than ${bytesMax} bytes`, {
    reason: "PAYLOAD_TOO_LARGE",
    httpStatus: 413,
    metadata: { bytesMax: `${bytesMax}` },
  });
}
