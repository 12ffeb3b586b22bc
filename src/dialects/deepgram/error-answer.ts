import { errorBody } from "../../server/answer-errors.ts";
import type { SocketClose } from "../../server/dialect-socket.ts";
import type { FailureAnswer } from "../../server/answer-failure.ts";
import type { ServiceError } from "../../std/service-error.ts";
import { fileErrorStatus } from "../file-error-status.ts";

/** Deepgram's codes by status. Its clients show them, and repeat calls by their status. */
const codes: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "INVALID_AUTH",
  403: "INSUFFICIENT_PERMISSIONS",
  404: "NOT_FOUND",
  408: "SLOW_UPLOAD",
  413: "PAYLOAD_TOO_LARGE",
  429: "TOO_MANY_REQUESTS",
  503: "SERVICE_UNAVAILABLE",
  504: "TIMEOUT",
};

/** Returns an error as Deepgram words it. */
export function deepgramErrorAnswer(error: ServiceError, requestId: string): FailureAnswer {
  const { headers } = errorBody(error);
  const status = fileErrorStatus(error);
  const body = {
    err_code: codes[status] ?? (status >= 500 ? "INTERNAL_SERVER_ERROR" : "Bad Request"),
    err_msg: error.message,
    request_id: requestId,
  };
  return { status, headers, body: JSON.stringify(body) };
}

/** What Deepgram says when it closes a socket without audio. */
const idleReason =
  "Deepgram did not receive audio data or a text message within the timeout window. See https://dpgr.am/net0001";

export const idleClose: SocketClose = {
  message: JSON.stringify({ type: "Error", variant: "NET-0001", description: idleReason }),
  code: 1011,
  reason: idleReason,
};

/**
 * Returns how a socket ends with an error: 1008 if the client has to change something, so that it
 * does not try the same again, and 1011 otherwise.
 */
export function deepgramClose(error: ServiceError): SocketClose {
  const { status } = errorBody(error);
  const isOfClient = status < 500 && status !== 429;
  const variant = isOfClient ? "DATA-0000" : "NET-0000";
  const { message: description } = error;
  const message = JSON.stringify({ type: "Error", variant, description, message: description });
  return { message, code: isOfClient ? 1008 : 1011, reason: `${variant}: ${description}` };
}
