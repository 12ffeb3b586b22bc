import type { AddressInfo, Socket } from "node:net";
import type { ConnectionSource } from "../server/port-listener.ts";

/** The connections that the main process gives to this front process. */
export class HandedConnections implements ConnectionSource {
  readonly bound: AddressInfo;
  readonly isKept: boolean;
  readonly closed: Promise<void>;
  readonly #hasClosed = Promise.withResolvers<void>();
  readonly #onChange: () => void;
  readonly #open = new Set<Socket>();
  /** Connections that came before the port was opened. */
  readonly #early: Socket[] = [];
  #serve: ((socket: Socket) => void) | undefined;
  #isClosing = false;

  /**
   * `bound` is the address at which the main process listens, and `isKept` whether its socket stays
   * open after it; `onChange` is called when a connection was closed, and when no more are taken.
   */
  constructor({ bound, isKept }: Pick<ConnectionSource, "bound" | "isKept">, onChange: () => void) {
    this.bound = bound;
    this.isKept = isKept;
    this.closed = this.#hasClosed.promise;
    this.#onChange = onChange;
  }

  get open(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  take(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#onChange();
      this.#checkClosed();
    });
    if (this.#serve) this.#serve(socket);
    else this.#early.push(socket);
  }

  listen(serve: (socket: Socket) => void): void {
    this.#serve = serve;
    for (const socket of this.#early.splice(0)) serve(socket);
  }

  close(): void {
    this.#isClosing = true;
    this.#onChange();
    this.#checkClosed();
  }

  #checkClosed(): void {
    if (this.#isClosing && this.#open.size === 0) this.#hasClosed.resolve();
  }
}
