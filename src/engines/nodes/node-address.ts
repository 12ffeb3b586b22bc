import type { SecureClientSessionOptions } from "node:http2";
import { connect, isIP } from "node:net";

/** An address of an engine node. */
export interface NodeAddress {
  /** The address as in the setting, for the log: <host>:<port>. */
  readonly name: string;
  /** The host name, which the certificate must have. */
  readonly host: string;
  /** The IP address. */
  readonly address: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  /** The main process of this node, in place of the address. */
  readonly main?: MainProcess | undefined;
}

/** The name of the main process, in place of that of an engine node. */
export const mainProcessName = "main process";

/** How a front process reaches the main process of its node. */
export interface MainProcess {
  /** The path of its Unix socket. */
  readonly socketPath: string;
  readonly credential: string;
  /** The silence after which it is given up. */
  readonly silentMsMax: number;
}

/** Returns the origin of an engine node, for HTTP/2. */
export function originOf({ address, port, isEncrypted }: NodeAddress): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${isEncrypted ? "https" : "http"}://${host}:${port}`;
}

/** Returns how it is connected. `authorities`: the only certificates that are trusted. */
export function connectionOf(
  { host, isEncrypted, main }: NodeAddress,
  authorities: string | undefined,
): SecureClientSessionOptions {
  const secure = {
    // TLS names hosts, not addresses: an address is compared with the certificate all the same.
    ...(isIP(host) === 0 && { servername: host }),
    ...(authorities !== undefined && { ca: authorities }),
  };
  return {
    maxSessionMemory: 256,
    ...(isEncrypted && secure),
    ...(main && { createConnection: () => connect(main.socketPath) }),
  };
}
