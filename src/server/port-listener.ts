import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { keepAliveMs, listenAt, type ListenPlace } from "./listen-at.ts";

/** Where the connections of a port come from. */
export interface ConnectionSource {
  /** The address at which they are accepted. */
  readonly bound: AddressInfo;
  /**
   * Whether its socket stays open after this process: connections that this process does not accept
   * wait for the next one.
   */
  readonly isKept: boolean;
  /** Resolves when no more are accepted and all are closed. */
  readonly closed: Promise<unknown>;
  /** Passes on each connection. */
  listen(serve: (socket: Socket) => void): void;
  /** Accepts no more connections. */
  close(): void;
}

/** Listens at an address. Rejects as listenAt() does. */
export async function openListener(at: ListenPlace): Promise<ConnectionSource> {
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: keepAliveMs };
  const listener = createServer({ noDelay: true, ...keepAlive });
  await listenAt(listener, at);
  const bound = listener.address();
  if (bound === null || typeof bound === "string") throw new Error("the port is not bound");
  return {
    bound,
    isKept: at.kept !== undefined,
    closed: once(listener, "close"),
    listen: (serve) => listener.on("connection", serve),
    close: () => void listener.close(),
  };
}
