import { isIP, type Socket } from "node:net";
import { buildConnector } from "undici";
import { addressRefused } from "./media-url.ts";
import { plainAddress } from "./public-address.ts";

/**
 * Connects only to these addresses, whatever the name resolves to now. If the host is an IP
 * address, there is no lookup, so the remote address is checked again before anything is sent.
 */
export function pinnedConnector(
  addresses: ReadonlySet<string>,
  { connectMs, onConnected }: { connectMs: number; onConnected: (socket: Socket) => void },
): buildConnector.connector {
  const list = [...addresses].map((address) => ({ address, family: isIP(address) }));
  const connect = buildConnector({
    timeout: connectMs,
    allowH2: false,
    maxCachedSessions: 0,
    autoSelectFamily: true,
    lookup: (_host, { all }, callback) => {
      const [first] = list;
      if (all) callback(null, list);
      else if (first) callback(null, first.address, first.family);
    },
  });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error) {
        callback(error, null);
      } else if (addresses.has(plainAddress(socket.remoteAddress ?? ""))) {
        onConnected(socket);
        callback(null, socket);
      } else {
        socket.destroy();
        callback(addressRefused(), null);
      }
    });
}
