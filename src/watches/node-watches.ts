import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { FairTurns } from "../std/fair-turns.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { ChangeFeed } from "./change-feed.ts";
import { HeldRoom } from "./held-room.ts";

/**
 * The interval after which a watch that has nothing new sends a message: shorter than the 60 s
 * after which proxies consider a stream dead.
 */
const repeatMsDefault = 30_000;

/**
 * The maximum number of messages of one account that may wait for room. Beyond it a stream is
 * refused before anything is read for it.
 */
const waitingMax = 100;

/** The default limit of unread messages. */
const defaultHeld = {
  nodeBytesMax: 128 << 20,
  accountBytesMax: 64 << 20,
  reason: "WATCHES_FULL",
  what: "watched jobs and transcripts",
};

/**
 * The maximum number of watches that one account, and all accounts together, may have open at a
 * node.
 */
export const watchesMax = { account: 1_000, node: 10_000 } as const;

/**
 * The number of copies of a message in memory: the message before and after serialization.
 */
export const copies = 2;

/**
 * The maximum time for which a message waits for room. For the first message of a stream, this is
 * the time in which the status can still report an error.
 */
export const roomMsMax = { first: 400, later: 30_000 } as const;

/** What all watches of a node share: their number, the memory for messages, turns, and the feed. */
export class NodeWatches {
  readonly room: HeldRoom;
  readonly held: HeldBytes;
  readonly turns = new FairTurns();
  readonly feed: ChangeFeed;
  readonly repeatMs: number;
  readonly #stopping = new AbortController();
  readonly #counts = new Map<string, number>();
  #count = 0;

  constructor(
    db: Kysely<Tables>,
    options: {
      readonly repeatMs?: number;
      readonly held?: HeldBytes | undefined;
    } = {},
  ) {
    const { repeatMs = repeatMsDefault, held = new HeldBytes(defaultHeld) } = options;
    this.held = held;
    this.room = new HeldRoom(held);
    this.feed = new ChangeFeed(db);
    this.repeatMs = repeatMs;
  }

  /** Aborts when the watches of this node end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Ends all watches with this error; later watches end with it immediately. */
  stop(error: unknown): void {
    this.#stopping.abort(error);
  }

  /**
   * Counts a watch of the account until the result is disposed of. Throws resource_exhausted if
   * there are too many, or too many unread messages of the account. This comes first for each
   * stream, so that refusing an account with too many streams costs little.
   */
  enter(accountId: string): Disposable {
    const ofAccount = this.#counts.get(accountId) ?? 0;
    if (ofAccount >= watchesMax.account) {
      throw watchesFull(`the account has ${watchesMax.account} watches open already`);
    }
    if (this.#count >= watchesMax.node) {
      throw watchesFull(`this node has ${watchesMax.node} watches open already`);
    }
    if (this.room.waitingOf(accountId) >= waitingMax) {
      throw watchesFull(
        `${waitingMax} messages to watches of the account wait until others have been read`,
      );
    }
    this.#counts.set(accountId, ofAccount + 1);
    this.#count++;
    let hasLeft = false;
    return {
      [Symbol.dispose]: () => {
        if (hasLeft) return;
        hasLeft = true;
        const left = (this.#counts.get(accountId) ?? 1) - 1;
        if (left > 0) this.#counts.set(accountId, left);
        else this.#counts.delete(accountId);
        this.#count--;
      },
    };
  }
}

function watchesFull(problem: string): ServiceError {
  return new ServiceError("resource_exhausted", `${problem}: try again later`, {
    reason: "WATCHES_FULL",
    retryAfterMs: 1_000,
  });
}
