const minuteMs = 60_000;

/** The number of calls in a minute of the clock, and in the minute before. */
export interface MinuteCounts {
  /** The number of minutes since 1970. */
  readonly minute: number;
  readonly requests: number;
  readonly previous: number;
}

/**
 * Estimates the number of calls in the last 60 s: all calls of this minute, and the share of the
 * previous minute's calls that is less than 60 s old, as if those calls were spread evenly. Two
 * numbers are stored instead of the time of every call. If calls are uneven, the error is at most
 * that share.
 */
export class RequestWindow {
  #minute = 0;
  #requests = 0;
  #previous = 0;

  /** Returns the number of calls at `now`. All times are milliseconds since 1970. */
  used(now: number): number {
    this.#advance(now);
    return this.#previous * (1 - this.#fraction(now)) + this.#requests;
  }

  count(now: number): void {
    this.#advance(now);
    this.#requests += 1;
  }

  /** Sets the counts of all nodes. */
  set({ minute, requests, previous }: MinuteCounts): void {
    this.#minute = minute;
    this.#requests = requests;
    this.#previous = previous;
  }

  /**
   * Returns the milliseconds until one more call is within `max` calls per window; 0 if it is now.
   * `max` is at least 1.
   */
  waitMs(max: number, now: number): number {
    if (this.used(now) + 1 <= max) return 0;
    const left = max - 1 - this.#requests;
    const at = this.#fraction(now);
    const wait =
      left >= 0 ? 1 - left / this.#previous - at : 1 - at + 1 - (max - 1) / this.#requests;
    // One millisecond is added, since fractions are rounded. After two minutes no call counts.
    return Math.min(Math.ceil(wait * minuteMs) + 1, 2 * minuteMs);
  }

  /**
   * Moves the window to the current minute. If the clock is set back a little, that minute
   * continues.
   */
  #advance(now: number): void {
    const minute = Math.floor(now / minuteMs);
    if (minute === this.#minute || minute === this.#minute - 1) return;
    this.#previous = minute === this.#minute + 1 ? this.#requests : 0;
    this.#requests = 0;
    this.#minute = minute;
  }

  #fraction(now: number): number {
    return Math.max(0, now - this.#minute * minuteMs) / minuteMs;
  }
}
