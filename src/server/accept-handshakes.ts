import type { WebSocketServer } from "ws";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { refuse } from "./refuse.ts";

/**
 * Makes a WebSocket server respond to every handshake with the request's id, and never with the
 * token.
 */
export function acceptHandshakes(server: WebSocketServer): void {
  // A browser sends the token as the second subprotocol (§5).
  server.options.handleProtocols = (offered) =>
    [...offered].find((protocol) => protocol.toLowerCase() === "bearer") ?? false;
  // The request is not a handshake of RFC 6455, for example one without a key.
  server.on("wsClientError", (error, socket, request) => {
    const problem = new ServiceError("invalid_argument", error.message, { reason: "HANDSHAKE" });
    refuse(socket, problem, callOriginOf(request).requestId);
  });
  server.on("headers", (headers, request) => {
    headers.push(`x-request-id: ${callOriginOf(request).requestId}`);
  });
}
