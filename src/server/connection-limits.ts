import type { Socket } from "node:net";
import { addressBlock } from "../std/address-block.ts";
import type { IsInNetworks } from "../std/networks.ts";
import { openFilesMax } from "../std/open-files.ts";
import { ServiceError } from "../std/service-error.ts";
import { refuse } from "./refuse.ts";

export interface ConnectionLimits {
  /** In all. */
  readonly max: number;
  /** Of one address; of IPv6 of one /64. */
  readonly perAddressMax: number;
  /** Addresses that may have as many as there are: proxies, whose connections are everybody's. */
  readonly isExempt: IsInNetworks;
}

/** Above it more connections help nobody: a live stream takes one. */
const connectionsMaxDefault = 10_000;

/** Half of what may be open: the database, engines, media and clients of our own need files too. */
export function defaultConnectionsMax(): number {
  return Math.max(1, Math.min(connectionsMaxDefault, Math.floor(openFilesMax() / 2)));
}

/** Refused connections that are still told why; others are just closed. */
const toldMax = 50;
/** Room is looked for no more often than this: it takes a look at all connections. */
const roomEveryMs = 100;

/** Counts connections, and closes those past a limit. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #makeRoom: () => void;
  /** With the address of each, as it is counted. */
  readonly #open = new Map<Socket, string>();
  readonly #perBlock = new Map<string, number>();
  #told = 0;
  #roomMadeAt = -Infinity;

  /**
   * `makeRoom` is asked to close connections that are not in use, when there are too many in all.
   */
  constructor(limits: ConnectionLimits, makeRoom: () => void) {
    this.#limits = limits;
    this.#makeRoom = makeRoom;
  }

  get open(): readonly Socket[] {
    return [...this.#open.keys()];
  }

  /** Whether a new connection may stay; one that may not is told so, and closed. */
  admit(socket: Socket): boolean {
    const { max, perAddressMax, isExempt } = this.#limits;
    const address = socket.remoteAddress ?? "";
    const block = addressBlock(address);
    const count = this.#perBlock.get(block) ?? 0;
    if (count >= perAddressMax && !isExempt(address)) {
      this.#turnAway(socket, tooManyOfAddress(perAddressMax));
      return false;
    }
    if (this.#open.size >= max) {
      this.#lookForRoom();
      if (this.#open.size >= max) {
        this.#turnAway(socket, tooManyInAll());
        return false;
      }
    }
    this.#open.set(socket, block);
    this.#perBlock.set(block, count + 1);
    socket.once("close", () => {
      this.#remove(socket);
    });
    return true;
  }

  /** What is closed for it counts no more, before its "close" comes. */
  #lookForRoom(): void {
    const now = performance.now();
    if (now - this.#roomMadeAt < roomEveryMs) return;
    this.#roomMadeAt = now;
    this.#makeRoom();
    for (const socket of this.open) if (socket.destroyed) this.#remove(socket);
  }

  #remove(socket: Socket): void {
    const block = this.#open.get(socket);
    if (block === undefined) return;
    this.#open.delete(socket);
    const left = (this.#perBlock.get(block) ?? 1) - 1;
    if (left > 0) this.#perBlock.set(block, left);
    else this.#perBlock.delete(block);
  }

  #turnAway(socket: Socket, error: ServiceError): void {
    socket.on("error", () => socket.destroy());
    if (this.#told >= toldMax) {
      socket.resetAndDestroy();
      return;
    }
    this.#told += 1;
    // What it sends is dropped: unread, it would take the answer with it.
    socket.resume();
    refuse(socket, error);
    socket.once("close", () => {
      this.#told -= 1;
    });
  }
}

function tooManyOfAddress(limit: number): ServiceError {
  return new ServiceError("resource_exhausted", `${limit} connections of your address are open`, {
    reason: "TOO_MANY_CONNECTIONS",
    metadata: { limit: `${limit}` },
  });
}

/** Not the caller's doing: another node may have room. */
function tooManyInAll(): ServiceError {
  return new ServiceError("unavailable", "too many connections are open", {
    reason: "TOO_MANY_CONNECTIONS",
  });
}
