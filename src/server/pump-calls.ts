import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { CallPump } from "./call-pump.ts";
import {
  headerOf,
  isClosed,
  targetOf,
  type HttpListener,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";

/** The handlers of a port for requests, upgrades and malformed input. */
export interface PortHandlers {
  readonly handle: HttpListener;
  /**
   * Answers input that is not HTTP. `code` is an error code from Node, for example
   * HPE_HEADER_OVERFLOW, or CONNECT.
   */
  readonly refuse: (code: string, socket: Duplex) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Notes that a connection was refused because too many are open. */
  readonly turnedAway?: (reason: string) => void;
}

/** Starts each call when the pump permits it. Health requests start immediately. */
export function pumpCalls(handlers: PortHandlers, pump: CallPump): PortHandlers {
  return {
    ...handlers,
    handle: (request, response) => {
      if (isHealth(targetOf(request))) {
        handlers.handle(request, response);
        return;
      }
      pump.add({
        caller: () => callerOf(request),
        isGone: () => isGone(response),
        begin: () => {
          handlers.handle(request, response);
        },
      });
    },
    upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const ignore = (): void => {};
      socket.on("error", ignore);
      pump.add({
        caller: () => callerOf(request),
        isGone: () => socket.destroyed,
        begin: () => {
          handlers.upgrade(request, socket, head);
          socket.off("error", ignore);
        },
      });
    },
  };
}

const healthPaths = ["/healthz", "/readyz", "/startupz", "/grpc.health.v1.Health/"];

function isHealth(target: string): boolean {
  return healthPaths.some((path) => target.startsWith(path));
}

/** The headers that identify a caller: calls with the same token come from the same caller. */
const tokenHeaders = ["authorization", "x-goog-api-key", "sec-websocket-protocol", "cookie"];

function callerOf(request: HttpRequest): string {
  for (const name of tokenHeaders) {
    const value = headerOf(request, name);
    if (value !== undefined) return value;
  }
  const [, token] = /[?&]token=([^&]+)/.exec(targetOf(request)) ?? [];
  return token ?? request.socket?.remoteAddress ?? "";
}

/** Whether a call was cancelled or its connection was closed before the call started. */
function isGone(response: HttpResponse): boolean {
  return response.destroyed || isClosed(response);
}
