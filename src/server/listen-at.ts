import { once } from "node:events";
import type { Server } from "node:net";
import process from "node:process";

/**
 * The TCP keep-alive delay. An idle connection is probed after this time, and closed some minutes
 * later if its peer no longer responds.
 */
export const keepAliveMs = 60_000;

/**
 * The connections that may wait in a socket that is kept open during a restart. The kernel has a
 * maximum of its own (net.core.somaxconn), which is 4,096.
 */
const waitingMax = 4_096;

/** An address to listen at. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /**
   * The descriptor of a socket that is bound to the address already, and stays open after this
   * process. Default: a new socket is bound.
   */
  readonly kept?: number | undefined;
}

/**
 * Makes a server listen at an address. If it cannot, rejects with a line for the operator that says
 * what is wrong and what to do.
 */
export async function listenAt(server: Server, at: ListenPlace): Promise<void> {
  beginListening(server, at);
  try {
    await once(server, "listening");
  } catch (error) {
    const advice = adviceFor(error instanceof Error && "code" in error ? error.code : "", at);
    throw advice === undefined ? error : new Error(advice, { cause: error });
  }
}

/** Makes a server listen at an address. The server then emits "listening" or "error". */
export function beginListening(server: Server, { host, port, kept }: ListenPlace): void {
  if (kept === undefined) server.listen(port, host);
  else server.listen({ fd: kept }, waitingMax);
}

function adviceFor(code: unknown, { host, port }: ListenPlace): string | undefined {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is taken by another program (or another Hlust): stop it, or set HLUST_PORT`;
    case "EACCES":
      return `user ${process.geteuid?.() ?? 0} may not listen on port ${port} of ${host}: set HLUST_PORT to a port above 1023`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is not an address of this machine: set HLUST_HOST to one, or to 0.0.0.0 for all`;
    default:
      return undefined;
  }
}
