import type { AccountLimits, LimitOf } from "./limits.ts";
import { RequestWindow, type MinuteCounts } from "./request-window.ts";

const dayMs = 86_400_000;

/** What all nodes together have written of an account or a key. */
export interface KnownUse extends MinuteCounts {
  readonly limits: AccountLimits;
  /** Of the day (UTC) that it is. */
  readonly audioMs: number;
  /** Days since 1970. */
  readonly day: number;
  /** Live streams of the other nodes. */
  readonly streamsElsewhere: number;
}

/** What this node has not written yet. */
export interface Unwritten {
  readonly id: string;
  readonly accountId: string;
  /** Calls. */
  readonly requests: number;
  /** Those of them that count in the window. */
  readonly recent: number;
  readonly liveMs: number;
  readonly shortMs: number;
  /** Live streams that this node has open. */
  readonly streams: number;
}

/**
 * Counts what one account, or one key of it, uses: all that is known of it, and what this node
 * adds. Times are milliseconds since 1970.
 */
export class Tally {
  readonly id: string;
  readonly accountId: string;
  /** When it was last looked at. */
  usedAt = 0;
  #limits: AccountLimits;
  readonly #window = new RequestWindow();
  #day = 0;
  #audioMs = 0;
  #streams = 0;
  #streamsElsewhere = 0;
  #requestsUnwritten = 0;
  #liveMsUnwritten = 0;
  #shortMsUnwritten = 0;
  #streamsWritten = 0;

  /** Of an account `id` is its own. */
  constructor(id: string, accountId: string, limits: AccountLimits) {
    this.id = id;
    this.accountId = accountId;
    this.#limits = limits;
  }

  get of(): LimitOf {
    return this.id === this.accountId ? "account" : "key";
  }

  get limits(): AccountLimits {
    return this.#limits;
  }

  /** Live streams that are open. */
  get streams(): number {
    return this.#streams + this.#streamsElsewhere;
  }

  /** Calls of the last 60 s. */
  requests(now: number): number {
    return this.#window.used(now);
  }

  /** Audio that was recognized today, milliseconds. */
  audioMs(now: number): number {
    this.#turnDay(now);
    return this.#audioMs;
  }

  /** Milliseconds until one more call is within the limit; 0: it is now. */
  requestWaitMs(now: number): number {
    const max = this.#limits.requestsPerMinute;
    return max === 0 ? 0 : this.#window.waitMs(max, now);
  }

  /** Milliseconds until there is audio to use again; 0: there is some now. */
  audioWaitMs(now: number): number {
    const { audioSecondsPerDay: max } = this.#limits;
    if (max === 0 || this.audioMs(now) < max * 1000) return 0;
    return dayMs - (now % dayMs);
  }

  get hasStreamLeft(): boolean {
    const max = this.#limits.concurrentStreams;
    return max === 0 || this.streams < max;
  }

  countRequest(now: number): void {
    this.#window.count(now);
    this.#requestsUnwritten += 1;
  }

  /** `by`: 1 for a stream that opens, -1 for one that ends. */
  countStream(by: 1 | -1): void {
    this.#streams += by;
  }

  /** `ms` below 0 takes audio back that was not heard. */
  countAudio(kind: "live" | "short", ms: number, now: number): void {
    this.#turnDay(now);
    this.#audioMs += ms;
    if (kind === "live") this.#liveMsUnwritten += ms;
    else this.#shortMsUnwritten += ms;
  }

  /** What is to be written; undefined: nothing. It counts as written from now on. */
  take(now: number): Unwritten | undefined {
    const [requests, streams] = [this.#requestsUnwritten, this.#streams];
    const [liveMs, shortMs] = [
      Math.floor(this.#liveMsUnwritten),
      Math.floor(this.#shortMsUnwritten),
    ];
    const isSame = streams === 0 && this.#streamsWritten === 0;
    if (isSame && requests === 0 && liveMs === 0 && shortMs === 0) return undefined;
    // What waited for a database that was away is old by now.
    const recent = Math.min(requests, Math.ceil(this.#window.used(now)));
    this.#requestsUnwritten = 0;
    this.#liveMsUnwritten -= liveMs;
    this.#shortMsUnwritten -= shortMs;
    this.#streamsWritten = streams;
    const { id, accountId } = this;
    return { id, accountId, requests, recent, liveMs, shortMs, streams };
  }

  /** Takes over what all nodes have written, to which comes what this one has not. */
  learn({ limits, minute, requests, previous, ...known }: KnownUse): void {
    this.#limits = limits;
    this.#window.set({ minute, requests: requests + this.#requestsUnwritten, previous });
    this.#day = known.day;
    this.#audioMs = known.audioMs + this.#liveMsUnwritten + this.#shortMsUnwritten;
    this.#streamsElsewhere = known.streamsElsewhere;
  }

  /** Whether nothing is lost when it is forgotten. */
  get isIdle(): boolean {
    const open = this.#streams + this.#streamsWritten + this.#requestsUnwritten;
    // As they are written: each on its own.
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
