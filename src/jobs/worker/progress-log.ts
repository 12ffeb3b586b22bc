import type { Log } from "../../std/log.ts";
import type { Progress } from "./job-progress.ts";

/** The interval between two log lines of a job, unless it passes a quarter. */
const logMs = 10_000;

/**
 * Logs the progress of a job, its speed, and the estimated remaining time, at regular intervals and
 * at each quarter.
 */
export class ProgressLog {
  readonly #log: Log;
  #begun: { readonly at: number; readonly hereMs: number } | undefined;
  #loggedAt = 0;
  #quarter = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Called regularly with the job's progress; `now` is on the clock of performance.now(). */
  note({ doneMs, totalMs, hereMs }: Progress, now: number): void {
    if (totalMs === 0) return;
    const quarter = Math.floor((doneMs * 4) / totalMs);
    // The progress of an earlier attempt is not logged, and does not count toward the speed of this
    // one.
    if (!this.#begun) {
      this.#begun = { at: now, hereMs };
      this.#loggedAt = now;
      this.#quarter = quarter;
      return;
    }
    const seconds = (now - this.#begun.at) / 1000;
    const hereSeconds = (hereMs - this.#begun.hereMs) / 1000;
    const isDue = quarter > this.#quarter || now - this.#loggedAt >= logMs;
    if (!isDue || hereSeconds <= 0) return;
    this.#quarter = quarter;
    this.#loggedAt = now;
    const speed = hereSeconds / seconds;
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
