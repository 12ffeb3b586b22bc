import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { ServiceError } from "../std/service-error.ts";
import { canRepeat, statusJson } from "./answer-errors.ts";
import { callOriginOf } from "./call-origin.ts";
import { acceptHandshakes } from "./accept-handshakes.ts";
import { closeGraceMs } from "./http.ts";
import { refuse } from "./refuse.ts";

/** A WebSocket request with its socket and the bytes that have already been read. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * The maximum number of sockets that are open only to send the reason for a refusal. Above this
 * limit, pages get the HTTP status, as other clients do.
 */
const openMax = 100;
/** The maximum size of a message that is read from these sockets. Messages are discarded. */
const messageBytesMax = 64 << 10;

/**
 * Refuses WebSockets. Browsers hide the response to a handshake from their pages. The socket of a
 * page (a client that sends an Origin header) is therefore accepted, gets the error as its only
 * frame, and is closed. The close code is 1013 if a retry may succeed, 1011 for a failure of the
 * service, and 1008 otherwise. A page that does not close its side is disconnected after 2 s. Other
 * clients get the HTTP status.
 */
export class RefusedSockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
    autoPong: false,
  });

  constructor() {
    acceptHandshakes(this.#server);
  }

  refuse({ request, socket, head }: Upgrade, error: ServiceError): void {
    const isOfPage = request.headers.origin !== undefined;
    if (!isOfPage || socket.destroyed || this.#server.clients.size >= openMax) {
      refuse(socket, error, callOriginOf(request).requestId);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      sendError(webSocket, error);
    });
  }

  /** Closes the connections that are still open. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
  }
}

function sendError(webSocket: WebSocket, error: ServiceError): void {
  // A page may still send a message that is too long, but the socket is already being closed.
  webSocket.on("error", () => {});
  webSocket.send(JSON.stringify({ error: statusJson(error) }));
  webSocket.close(closeCodeOf(error));
  const timer = setTimeout(() => {
    webSocket.terminate();
  }, closeGraceMs);
  webSocket.once("close", () => {
    clearTimeout(timer);
  });
}

function closeCodeOf(error: ServiceError): number {
  if (canRepeat(error)) return 1013;
  return ["internal", "unknown", "data_loss"].includes(error.code) ? 1011 : 1008;
}
