import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { type Config, ConfigError } from "./config.ts";
import type { PassedSocket } from "./systemd/passed-sockets.ts";

/**
 * The sockets of a node that systemd keeps open while the node restarts, as descriptors: new
 * connections wait in them for the next process.
 */
export interface KeptSockets {
  /** That of HLUST_PORT. */
  readonly port?: number;
  /** That of HLUST_WYOMING_LISTEN. */
  readonly wyoming?: number;
}

interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Finds out which listener each passed socket is for: the one with its address. Throws ConfigError
 * if it is that of no listener, since its connections would wait forever.
 */
export async function findKeptSockets(
  { role, ...given }: Pick<Config, "host" | "port" | "wyoming" | "role">,
  passed: readonly PassedSocket[],
): Promise<KeptSockets> {
  const hasWyoming = role === "all" || role === "api";
  const config = { ...given, wyoming: hasWyoming ? given.wyoming : undefined };
  const kept: { port?: number; wyoming?: number } = {};
  for (const socket of passed) {
    if (kept.port === undefined && (await isAt(socket, config))) kept.port = socket.descriptor;
    else if (kept.wyoming === undefined && config.wyoming && (await isAt(socket, config.wyoming)))
      kept.wyoming = socket.descriptor;
    else throw new ConfigError(problemOf(socket, config));
  }
  return kept;
}

/** Returns whether a socket is bound to the address of a listener, whose host may be a name. */
async function isAt(socket: PassedSocket, { host, port }: Place): Promise<boolean> {
  if (socket.port !== port) return false;
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some(({ address }) => plain(address) === plain(socket.host));
}

/** An IPv6 address has several forms, of which URLs have one. The zone (%eth0) is not compared. */
function plain(address: string): string {
  const [withoutZone = ""] = address.split("%", 1);
  return isIPv6(withoutZone) ? new URL(`http://[${withoutZone}]`).hostname : address;
}

function problemOf(
  socket: PassedSocket,
  config: Pick<Config, "host" | "port" | "wyoming">,
): string {
  const listeners = [
    `HLUST_HOST and HLUST_PORT are ${shown(config)}`,
    ...(config.wyoming ? [`HLUST_WYOMING_LISTEN is ${shown(config.wyoming)}`] : []),
  ];
  return `systemd passes a socket at ${shown(socket)}, but ${listeners.join(" and ")}: write the same address in hlust.socket (ListenStream=) and in the settings`;
}

function shown({ host, port }: Place): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
