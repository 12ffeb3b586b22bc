import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { keepAliveMs, listenAt, type ListenPlace } from "../server/listen-at.ts";
import type { Log } from "../std/log.ts";

/** A front process, as the port sees it. */
export interface ConnectionTaker {
  /** Whether it takes connections now. */
  readonly isTaking: boolean;
  /** The number of connections that it has, or has been given. */
  readonly connections: number;
  take(socket: Socket): void;
}

/** The connections that may wait for a front process, while none takes any. */
const waitingMax = 2_000;

/**
 * The port of a node with several front processes. It stays open while they are replaced. Each
 * connection goes, unread, to the front process with the fewest.
 */
export class SharedPort implements Disposable {
  readonly bound: AddressInfo;
  /** Whether its socket stays open after this process. */
  readonly isKept: boolean;
  readonly #server: Server;
  readonly #log: Log;
  readonly #waiting: Socket[] = [];
  #takers: () => Iterable<ConnectionTaker> = () => [];
  #isFull = false;

  private constructor(
    server: Server,
    { bound, isKept }: Pick<SharedPort, "bound" | "isKept">,
    log: Log,
  ) {
    this.#server = server;
    this.bound = bound;
    this.isKept = isKept;
    this.#log = log;
    server.on("connection", (socket) => {
      // The client may leave before a front process has the connection.
      socket.on("error", () => socket.destroy());
      this.pass(socket);
    });
  }

  /** Listens. Connections wait until there are front processes. Rejects as listenAt() does. */
  static async open(at: ListenPlace, log: Log): Promise<SharedPort> {
    const server = createServer({
      pauseOnConnect: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
    });
    await listenAt(server, at);
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("the port is not bound");
    return new SharedPort(server, { bound, isKept: at.kept !== undefined }, log);
  }

  /** Sets the front processes, which may change, that take the connections. */
  serve(takers: () => Iterable<ConnectionTaker>): void {
    this.#takers = takers;
    this.passWaiting();
  }

  /** Gives a connection to a front process, or keeps it until one takes connections. */
  pass(socket: Socket): void {
    const taker = this.#choose();
    if (taker) {
      this.#isFull = false;
      taker.take(socket);
    } else if (this.#waiting.length < waitingMax) {
      this.#waiting.push(socket);
    } else {
      if (!this.#isFull) this.#log.warn({ waitingMax }, "front.none_takes_connections");
      this.#isFull = true;
      socket.destroy();
    }
  }

  /** Gives the waiting connections away, if there is a front process that takes them. */
  passWaiting(): void {
    while (this.#waiting.length > 0 && this.#choose()) {
      const socket = this.#waiting.shift();
      if (socket && !socket.destroyed) this.pass(socket);
    }
  }

  #choose(): ConnectionTaker | undefined {
    let chosen: ConnectionTaker | undefined;
    for (const taker of this.#takers()) {
      if (taker.isTaking && taker.connections < (chosen?.connections ?? Infinity)) chosen = taker;
    }
    return chosen;
  }

  /** Stops listening. */
  close(): void {
    this.#server.close();
  }

  /** Stops listening, and closes the connections that wait. */
  [Symbol.dispose](): void {
    this.close();
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }
}
