import type { Socket } from "node:net";
import { addressBlock } from "../std/address-block.ts";
import type { IsInNetworks } from "../std/networks.ts";
import { openFilesMax } from "../std/open-files.ts";
import { ServiceError } from "../std/service-error.ts";
import { refuse } from "./refuse.ts";

export interface ConnectionLimits {
  /** The maximum number of connections from all addresses together. */
  readonly max: number;
  /** The maximum number of connections from one address; for IPv6, from one /64. */
  readonly perAddressMax: number;
  /**
   * Returns whether an address has no limit of its own, as for proxies, which call for many
   * clients.
   */
  readonly isExempt: IsInNetworks;
}

/**
 * More connections would not help: even if each one has only one live stream, no node can serve
 * more.
 */
const connectionsMaxDefault = 10_000;

/**
 * Returns half the number of files that may be open. The database, engines, media and our own HTTP
 * clients need files too.
 */
export function defaultConnectionsMax(): number {
  return Math.max(1, Math.min(connectionsMaxDefault, Math.floor(openFilesMax() / 2)));
}

/**
 * The maximum number of refused connections that get an error concurrently. Others are closed
 * without an error.
 */
const answeredMax = 50;
/**
 * The minimum interval between searches for unused connections, because each search visits all
 * connections.
 */
const roomEveryMs = 100;

/** Counts connections, and closes those over a limit. */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #makeRoom: () => void;
  readonly #answeredMax: number;
  readonly #turnedAway: (reason: string) => void;
  /** Each open connection and the address for which it is counted. */
  readonly #open = new Map<Socket, string>();
  readonly #perBlock = new Map<string, number>();
  #answered = 0;
  #roomMadeAt = -Infinity;

  /**
   * `makeRoom` closes unused connections when there are too many in total. `isAnswering` states
   * whether refused connections get an error in cleartext. `turnedAway` is called with the reason
   * for each of them.
   */
  constructor(
    limits: ConnectionLimits,
    {
      makeRoom,
      isAnswering,
      turnedAway = () => {},
    }: {
      readonly makeRoom: () => void;
      readonly isAnswering: boolean;
      readonly turnedAway?: ((reason: string) => void) | undefined;
    },
  ) {
    this.#turnedAway = turnedAway;
    this.#limits = limits;
    this.#makeRoom = makeRoom;
    this.#answeredMax = isAnswering ? answeredMax : 0;
  }

  get open(): readonly Socket[] {
    return [...this.#open.keys()];
  }

  /**
   * Returns whether a new connection may stay. Otherwise, the connection gets an error and is
   * closed.
   */
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

  /** Closes unused connections. Closed connections stop counting even before they emit "close". */
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
    this.#turnedAway(error.reason);
    socket.on("error", () => socket.destroy());
    if (this.#answered >= this.#answeredMax) {
      socket.resetAndDestroy();
      return;
    }
    this.#answered += 1;
    // The connection's data is read and discarded. Unread data would reset the connection, and the
    // response would be lost.
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

/**
 * Returns the error for too many connections from all addresses together. Another node may have
 * room.
 */
function tooManyInAll(): ServiceError {
  return new ServiceError("unavailable", "too many connections are open", {
    reason: "TOO_MANY_CONNECTIONS",
  });
}
