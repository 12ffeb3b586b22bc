import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ServiceError } from "../std/service-error.ts";
import { errorBody } from "./answer-errors.ts";

/** Answers on a bare socket, in HTTP/1.1, and ends it. */
export function refuse(socket: Duplex, error: ServiceError): void {
  const { status, headers, body } = errorBody(error);
  const lines = Object.entries({
    ...headers,
    "content-length": `${Buffer.byteLength(body)}`,
    connection: "close",
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const reason = STATUS_CODES[status] ?? "Error";
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n${body}`);
}

/** Answers what is not HTTP, by Node's code for what is wrong with it. */
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
  HPE_HEADER_OVERFLOW: ["the request line and headers are longer than 16 KiB", 431],
  ERR_HTTP_REQUEST_TIMEOUT: ["the headers did not come within 10 s", 408],
};
