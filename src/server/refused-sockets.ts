import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { ServiceError } from "../std/service-error.ts";
import { canRepeat, statusJson } from "./answer-errors.ts";
import { callOriginOf } from "./call-origin.ts";
import { acceptHandshakes } from "./accept-handshakes.ts";
import { closeGraceMs } from "./http.ts";
import { refuse } from "./refuse.ts";

/** A request for a WebSocket, with its socket and what of it was read already. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/**
 * How many sockets are accepted at a time only to say why they are refused; past it pages get the
 * HTTP status, as other clients do.
 */
const toldMax = 100;
/** Longest message that is still read from them: it is dropped. */
const messageBytesMax = 64 << 10;

/**
 * Refuses WebSockets. Browsers hide the answer to a handshake from their pages, so one that comes
 * from a page (it has an Origin) is
 * accepted, gets the error as its one frame, and is closed: 1013 where it may be tried again, 1011
 * for a failure of the service, else
 * 1008. A page that does not take the close is cut after 2 s. All other clients get the HTTP
 * status.
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
    if (!isOfPage || socket.destroyed || this.#server.clients.size >= toldMax) {
      refuse(socket, error, callOriginOf(request).requestId);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      tell(webSocket, error);
    });
  }

  /** Cuts those that have not closed yet. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
  }
}

function tell(webSocket: WebSocket, error: ServiceError): void {
  // A page may break the protocol still, with a message that is too long: it is being closed
  // already.
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
