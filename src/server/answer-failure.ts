import type { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";
import { answerJson, beginContent, breakOff, type HttpResponse, writePart } from "./http.ts";
import { giveUpReading } from "./request-body.ts";

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
