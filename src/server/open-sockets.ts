import type { Contract } from "./contract.ts";
import { DialectSockets, type DialectSocketsParts, type SocketDialect } from "./dialect-sockets.ts";
import { createWebSocketDoor, type WebSocketDoor } from "./websocket.ts";

/** Opens the doors of WebSockets: a path belongs to a dialect, or else to the contract. */
export function openSockets(
  contract: Contract,
  dialects: readonly SocketDialect[],
  parts: Parameters<typeof createWebSocketDoor>[1] & DialectSocketsParts,
): WebSocketDoor {
  const own = createWebSocketDoor(contract, parts);
  const others = new DialectSockets(dialects, parts);
  return {
    handleUpgrade(request, socket, head) {
      const door = others.handles(request) ? others : own;
      door.handleUpgrade(request, socket, head);
    },
    async refuse() {
      await Promise.all([own.refuse(), others.refuse()]);
    },
    ends: () => [...own.ends(), ...others.ends()],
    async drain() {
      await Promise.all([own.drain(), others.drain()]);
    },
    terminate() {
      own.terminate();
      others.terminate();
    },
  };
}
