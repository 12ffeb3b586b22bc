import type { Log } from "../../std/log.ts";
import type { Progress } from "./job-progress.ts";

/** Between two lines of a job, unless it passes a quarter. */
const logMs = 10_000;

/**
 * Writes how far a job is, how fast, and how long it may still take into the worker's log: now and
 * then, and at the quarters.
 */
export class ProgressLog {
  readonly #log: Log;
  #begun: { readonly at: number; readonly hereMs: number } | undefined;
  #loggedAt = 0;
  #quarter = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Given now and then how far the job is at a time of performance.now(). */
  note({ doneMs, totalMs, hereMs }: Progress, now: number): void {
    if (totalMs === 0) return;
    const quarter = Math.floor((doneMs * 4) / totalMs);
    // What an earlier try did is no news, and no speed of this one.
    if (!this.#begun) {
      this.#begun = { at: now, hereMs };
      this.#loggedAt = now;
      this.#quarter = quarter;
      return;
    }
    const seconds = (now - this.#begun.at) / 1000;
    const heardSeconds = (hereMs - this.#begun.hereMs) / 1000;
    const isDue = quarter > this.#quarter || now - this.#loggedAt >= logMs;
    if (!isDue || heardSeconds <= 0) return;
    this.#quarter = quarter;
    this.#loggedAt = now;
    const speed = heardSeconds / seconds;
    this.#log.info(
      {
        recognizedSeconds: Math.round(doneMs / 1000),
        ofSeconds: Math.round(totalMs / 1000),
        speed: Number(speed.toPrecision(2)),
        secondsLeft: Math.ceil((totalMs - doneMs) / 1000 / speed),
      },
      "job.progress",
    );
  }
}
