import type { TimeRange } from "../model/time-ranges.ts";

/** Stretches that are shorter are not reported. */
const shortestSeconds = 0.05;

/** Collects the stretches of a recording that are played. */
export class Listened {
  #done: TimeRange[] = [];
  #now: TimeRange | undefined;

  /** Notes the place of the playback. If the user has chosen it, another stretch begins there. */
  note(seconds: number, isSought: boolean): void {
    const now = this.#now;
    if (now && !isSought && seconds >= now.start) {
      this.#now = { start: now.start, end: Math.max(now.end, seconds) };
      return;
    }
    this.#close();
    this.#now = { start: seconds, end: seconds };
  }

  /**
   * Returns the stretches that have been played since the last call, in the order of playing. A
   * stretch that is still too short is returned by a later call, with its beginning.
   */
  take(): readonly TimeRange[] {
    // Playing goes on where the stretch ends.
    const now = this.#now;
    if (this.#close() && now) this.#now = { start: now.end, end: now.end };
    const taken = this.#done;
    this.#done = [];
    return taken;
  }

  /** Keeps stretches that could not be reported for the next report. */
  restore(stretches: readonly TimeRange[]): void {
    this.#done.unshift(...stretches);
  }

  /** Returns whether the current stretch is long enough to be reported. */
  #close(): boolean {
    const now = this.#now;
    if (!now || now.end - now.start < shortestSeconds) return false;
    this.#done.push(now);
    return true;
  }
}
