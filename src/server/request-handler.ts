import type { IsInNetworks } from "../std/networks.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { noteCall } from "../tracing/tracing.ts";
import type { AccessLog } from "./access-log.ts";
import type { AnswerError } from "./answer-errors.ts";
import { findCallOrigin } from "./call-origin.ts";
import { answerFailure } from "./answer-failure.ts";
import {
  breakOff,
  type HttpDoor,
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
} from "./http.ts";
import { askForBody, giveUpReading } from "./request-body.ts";
import type { PageOrigins } from "./page-origins.ts";
import { shuttingDown } from "./shutting-down.ts";
import { traceRequest } from "./trace-requests.ts";

/**
 * Handles every HTTP request of the port: sets X-Request-Id, answers preflights, and passes the
 * request to the first of `doors` that handles it, or to `rest`. Errors thrown by doors are
 * answered here.
 */
export function createRequestHandler(
  { doors, rest }: { readonly doors: readonly HttpDoor[]; readonly rest: HttpHandler },
  parts: {
    readonly answerError: AnswerError;
    readonly pages: Pick<PageOrigins, "answer">;
    readonly isTrustedProxy?: IsInNetworks | undefined;
    /** Returns whether new calls are refused, because the service is shutting down. */
    readonly refuses: () => boolean;
    /** Undefined if calls are not logged. */
    readonly access?: AccessLog | undefined;
    readonly log: Log;
  },
): HttpListener {
  const { answerError, pages, isTrustedProxy, refuses, access, log } = parts;
  return (request, response) => {
    const { requestId } = findCallOrigin(request, isTrustedProxy);
    response.setHeader("x-request-id", requestId);
    // Discards the unread part of the body after the response has been sent.
    response.once("finish", () => {
      void giveUpReading(response);
    });
    if (pages.answer(request, response)) return;
    const door = doors.find((each) => each.handles(request));
    const answer = (): void => {
      const refusal = refusalOf(request, door, refuses());
      if (refusal) {
        noteCall({ code: refusal.code });
        answerFailure(response, refusal);
        return;
      }
      if (!door?.asksForBody) askForBody(request, response);
      const handle: HttpHandler = door ? (...call) => door.handle(...call) : rest;
      handle(request, response)
        .catch((error: unknown) => {
          answerFailure(response, answerError(error, requestId));
        })
        // Even the error response could not be written. Without this handler, one such failure
        // would end the process.
        .catch((bug: unknown) => {
          log.error(errorFields(bug), "call.broken");
          breakOff(response);
        });
    };
    if (door?.isForProbes) answer();
    else traceRequest(request, response, { requestId, answer, access });
  };
}

/** Returns the error of a request that no door has to see. */
function refusalOf(
  request: HttpRequest,
  door: HttpDoor | undefined,
  isShuttingDown: boolean,
): ServiceError | undefined {
  if (isShuttingDown && !door?.refusesByItself) return shuttingDown("call");
  const hasHost = request.httpVersionMajor > 1 || request.headers.host !== undefined;
  if (hasHost || door?.needsNoHost) return undefined;
  return new ServiceError("invalid_argument", "the Host header is missing");
}
