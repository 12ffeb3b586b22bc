import { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { HeldShare } from "../std/held-bytes.ts";
import { bodyIntakeOf, isShortBody } from "./body-intake.ts";
import { bodyLimits, BodyPace, type BodyLimits } from "./body-pace.ts";
import { ByteCollector, tooLarge } from "./byte-collector.ts";
import { clientGone } from "./client-gone.ts";
import { type HttpRequest, type HttpResponse, isClosed } from "./http.ts";

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
function isWaitingToSend(request: HttpRequest): boolean {
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
