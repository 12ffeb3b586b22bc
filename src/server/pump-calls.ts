import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { CallPump } from "./call-pump.ts";
import { headerOf, isClosed, targetOf, type HttpRequest, type HttpResponse } from "./http.ts";
import type { Doors } from "./port.ts";

/** Has calls begin as the pump lets them; health is asked at once. */
export function pumpCalls(doors: Doors, pump: CallPump): Doors {
  return {
    ...doors,
    handle: (request, response) => {
      if (isHealth(targetOf(request))) {
        doors.handle(request, response);
        return;
      }
      pump.add({
        caller: () => callerOf(request),
        isGone: () => isGone(response),
        begin: () => {
          doors.handle(request, response);
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
          doors.upgrade(request, socket, head);
          socket.off("error", ignore);
        },
      });
    },
  };
}

const healthPaths = ["/healthz", "/readyz", "/grpc.health.v1.Health/"];

function isHealth(target: string): boolean {
  return healthPaths.some((path) => target.startsWith(path));
}

/** Where one of these shows a token, calls with the same one are of one caller. */
const tokenHeaders = ["authorization", "x-goog-api-key", "sec-websocket-protocol", "cookie"];

function callerOf(request: HttpRequest): string {
  for (const name of tokenHeaders) {
    const value = headerOf(request, name);
    if (value !== undefined) return value;
  }
  const [, token] = /[?&]token=([^&]+)/.exec(targetOf(request)) ?? [];
  return token ?? request.socket?.remoteAddress ?? "";
}

/** Taken back, or its connection gone, before it was begun. */
function isGone(response: HttpResponse): boolean {
  return response.destroyed || isClosed(response);
}
