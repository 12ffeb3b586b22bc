import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";
import type { FailureAnswer } from "./answer-failure.ts";

/**
 * A refused connection is destroyed after this time, since the client may neither read nor close
 * it.
 */
const endMsMax = 500;

/**
 * Sends an HTTP/1.1 error response on a bare socket and ends the socket. `answerOf` returns the
 * response; by default it is that of the API.
 */
export function refuse(
  socket: Duplex,
  error: ServiceError,
  requestId: string = newId(),
  answerOf: (error: ServiceError) => FailureAnswer = errorBody,
): void {
  const { status, headers, body } = answerOf(error);
  const lines = Object.entries({
    ...headers,
    "x-request-id": requestId,
    "content-length": `${Buffer.byteLength(body)}`,
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const reason = STATUS_CODES[status] ?? "Error";
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), endMsMax);
  socket.once("close", () => {
    clearTimeout(timer);
  });
}

/** Answers malformed HTTP. `code` is an error code from Node. */
export function refuseMalformed(code: string, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [message, httpStatus] = problems[code] ?? ["the request is not HTTP/1.1", 400];
  refuse(
    socket,
    new ServiceError("invalid_argument", message, { reason: "MALFORMED_HTTP", httpStatus }),
  );
}

const problems: Readonly<Record<string, readonly [message: string, status: number]>> = {
  CONNECT: ["this service is not a proxy", 405],
  HPE_HEADER_OVERFLOW: ["the request line and headers are longer than 16 KiB", 431],
  ERR_HTTP_REQUEST_TIMEOUT: ["the headers did not arrive within 10 s", 408],
};
