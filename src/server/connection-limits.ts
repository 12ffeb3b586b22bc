import type { Socket } from "node:net";
import { addressBlock } from "../std/address-block.ts";
import type { IsInNetworks } from "../std/networks.ts";
import { openFilesMax } from "../std/open-files.ts";
import { ServiceError } from "../std/service-error.ts";
import { refuse } from "./refuse.ts";

export interface ConnectionLimits {
  /** The maximum of all addresses together. */
  readonly max: number;
  /** The maximum of one address; for IPv6, of one /64. */
  readonly perAddressMax: number;
  /** Addresses without a limit of their own: proxies, which call for many clients. */
  readonly isExempt: IsInNetworks;
}

/**
 * More connections are of no use: even if each of them has one live stream, no node can serve more.
 */
const connectionsMaxDefault = 10_000;

/**
 * Half of the number of files that may be open: the database, engines, media and our own HTTP
 * clients need files too.
 */
export function defaultConnectionsMax(): number {
  return Math.max(1, Math.min(connectionsMaxDefault, Math.floor(openFilesMax() / 2)));
}

/**
 * At most this many refused connections get an error at the same time; others are closed without
 * one.
 */
const answeredMax = 50;
/** Unused connections are looked for at most this often, since all connections are visited. */
const roomEveryMs = 100;

/** Counts connections, and closes those over a limit. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #makeRoom: () => void;
  /** Each open connection with the address for which it is counted. */
  readonly #open = new Map<Socket, string>();
  readonly #perBlock = new Map<string, number>();
  #answered = 0;
  #roomMadeAt = -Infinity;

  /** `makeRoom` closes unused connections when there are too many in all. */
  constructor(limits: ConnectionLimits, makeRoom: () => void) {
    this.#limits = limits;
    this.#makeRoom = makeRoom;
  }

  get open(): readonly Socket[] {
    return [...this.#open.keys()];
  }

  /** Whether a new connection may stay. Otherwise it gets an error and is closed. */
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

  /**
   * Closes unused connections. Closed connections no longer count, even before they emit "close".
   */
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
    if (this.#answered >= answeredMax) {
      socket.resetAndDestroy();
      return;
    }
    this.#answered += 1;
    // Its data is read and dropped: unread data would reset the connection, and the answer would be
    // lost.
    socket.resume();
    refuse(socket, error);
    socket.once("close", () => {
      this.#answered -= 1;
    });
  }
}

function tooManyOfAddress(limit: number): ServiceError {
  return new ServiceError("resource_exhausted", `${limit} connections of your address are open`, {
    reason: "TOO_MANY_CONNECTIONS",
    metadata: { limit: `${limit}` },
  });
}

/** The error if all addresses together have too many: another node may have room. */
function tooManyInAll(): ServiceError {
  return new ServiceError("unavailable", "too many connections are open", {
    reason: "TOO_MANY_CONNECTIONS",
  });
}
