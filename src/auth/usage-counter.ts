import type { AccountLimits, LimitOf } from "./limits.ts";
import { RequestWindow, type MinuteCounts } from "./request-window.ts";

const dayMs = 86_400_000;

/** The stored use of an account or a key on all nodes. */
export interface KnownUse extends MinuteCounts {
  readonly limits: AccountLimits;
  /** The audio recognized today (UTC). */
  readonly audioMs: number;
  /** Today, in days since 1970. */
  readonly day: number;
  /** The number of live streams on the other nodes. */
  readonly streamsElsewhere: number;
}

/** The use that this node has counted and not yet written. */
export interface Unwritten {
  readonly id: string;
  readonly accountId: string;
  /** Whether the subject is a member, who has no limits. */
  readonly isMember: boolean;
  readonly requests: number;
  /** The part of `requests` that pages of the console made. */
  readonly consoleRequests: number;
  /** The part of `requests` that is within the window. */
  readonly recent: number;
  readonly liveMs: number;
  readonly shortMs: number;
  /** The number of live streams that this node has open. */
  readonly streams: number;
}

/**
 * Counts the use of one account, of one of its keys, or of a member: the stored use, plus the use
 * that this node has added. Times are milliseconds since 1970.
 */
export class UsageCounter {
  readonly id: string;
  readonly accountId: string;
  readonly isMember: boolean;
  /** The time at which the counter was last used. */
  usedAt = 0;
  #limits: AccountLimits;
  readonly #window = new RequestWindow();
  #day = 0;
  #audioMs = 0;
  #streams = 0;
  #streamsElsewhere = 0;
  #requestsUnwritten = 0;
  #consoleRequestsUnwritten = 0;
  #liveMsUnwritten = 0;
  #shortMsUnwritten = 0;
  #streamsWritten = 0;

  /** For an account, both ids are the same. */
  constructor(id: string, accountId: string, limits: AccountLimits, isMember = false) {
    this.id = id;
    this.accountId = accountId;
    this.isMember = isMember;
    this.#limits = limits;
  }

  get of(): LimitOf {
    return this.id === this.accountId ? "account" : "key";
  }

  get limits(): AccountLimits {
    return this.#limits;
  }

  /** The number of open live streams on all nodes. */
  get streams(): number {
    return this.#streams + this.#streamsElsewhere;
  }

  /** Returns the number of calls in the last 60 s. */
  requests(now: number): number {
    return this.#window.used(now);
  }

  /** Returns the audio that was recognized today, in milliseconds. */
  audioMs(now: number): number {
    this.#turnDay(now);
    return this.#audioMs;
  }

  /** Returns the milliseconds until one more call is within the limit; 0 if it is now. */
  requestWaitMs(now: number): number {
    const max = this.#limits.requestsPerMinute;
    return max === 0 ? 0 : this.#window.waitMs(max, now);
  }

  /** Returns the milliseconds until audio may be recognized again; 0 if it may be now. */
  audioWaitMs(now: number): number {
    const { audioSecondsPerDay: max } = this.#limits;
    if (max === 0 || this.audioMs(now) < max * 1000) return 0;
    return dayMs - (now % dayMs);
  }

  get hasStreamLeft(): boolean {
    const max = this.#limits.concurrentStreams;
    return max === 0 || this.streams < max;
  }

  countRequest(now: number, isFromConsole = false): void {
    this.#window.count(now);
    this.#requestsUnwritten += 1;
    if (isFromConsole) this.#consoleRequestsUnwritten += 1;
  }

  /** Counts a stream. `by` is 1 for a stream that opens and -1 for a stream that ends. */
  countStream(by: 1 | -1): void {
    this.#streams += by;
  }

  /** Counts audio. A negative `ms` subtracts audio that was not recognized. */
  countAudio(kind: "live" | "short", ms: number, now: number): void {
    this.#turnDay(now);
    this.#audioMs += ms;
    if (kind === "live") this.#liveMsUnwritten += ms;
    else this.#shortMsUnwritten += ms;
  }

  /**
   * Returns the counts to write, or undefined if there are none. These counts are regarded as
   * written from now on.
   */
  take(now: number): Unwritten | undefined {
    const [requests, streams] = [this.#requestsUnwritten, this.#streams];
    const [liveMs, shortMs] = [
      Math.floor(this.#liveMsUnwritten),
      Math.floor(this.#shortMsUnwritten),
    ];
    const isSame = streams === 0 && this.#streamsWritten === 0;
    if (isSame && requests === 0 && liveMs === 0 && shortMs === 0) return undefined;
    // Counts that were held back by an unavailable database may be older than the window.
    const recent = Math.min(requests, Math.ceil(this.#window.used(now)));
    const consoleRequests = this.#consoleRequestsUnwritten;
    this.#requestsUnwritten = 0;
    this.#consoleRequestsUnwritten = 0;
    this.#liveMsUnwritten -= liveMs;
    this.#shortMsUnwritten -= shortMs;
    this.#streamsWritten = streams;
    const { id, accountId, isMember } = this;
    const audio = { liveMs, shortMs };
    return { id, accountId, isMember, requests, consoleRequests, recent, ...audio, streams };
  }

  /**
   * Replaces the stored use with a newer reading. The use that this node has not written is added
   * to it.
   */
  update({ limits, minute, requests, previous, ...known }: KnownUse): void {
    this.#limits = limits;
    this.#window.set({ minute, requests: requests + this.#requestsUnwritten, previous });
    this.#day = known.day;
    this.#audioMs = known.audioMs + this.#liveMsUnwritten + this.#shortMsUnwritten;
    this.#streamsElsewhere = known.streamsElsewhere;
  }

  /** Whether the counter can be dropped without losing a count. */
  get isIdle(): boolean {
    const open = this.#streams + this.#streamsWritten + this.#requestsUnwritten;
    // The two values are rounded separately, as they are when written.
    const [liveMs, shortMs] = [this.#liveMsUnwritten, this.#shortMsUnwritten];
    return open === 0 && Math.floor(liveMs) === 0 && Math.floor(shortMs) === 0;
  }

  #turnDay(now: number): void {
    const day = Math.floor(now / dayMs);
    if (day <= this.#day) return;
    this.#day = day;
    this.#audioMs = 0;
  }
}
