import { errorFields } from "../../std/log.ts";
import { LeaseLost } from "./finish-jobs.ts";
import type { Progress } from "./job-progress.ts";
import type { JobLease } from "../job-queue.ts";
import { ProgressLog } from "./progress-log.ts";
import type { JobParts } from "./run-job.ts";
import { writeProgress } from "./try-store.ts";

/** How often a lease is extended, progress written and a cancelled job noticed. */
const beatMs = 1_000;

/** Keeps a lease while its job runs, and tells when it is lost; writes the progress. */
export class Claim {
  readonly lease: JobLease;
  readonly signal: AbortSignal;
  readonly #parts: Pick<JobParts, "queue" | "database" | "log">;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #log: ProgressLog;
  #progress: Progress = { doneMs: 0, totalMs: 0, hereMs: 0 };
  #writtenMs = 0;
  #isBusy = false;

  constructor(
    parts: Pick<JobParts, "queue" | "database" | "log">,
    lease: JobLease,
    stopped: AbortSignal,
  ) {
    this.#parts = parts;
    this.lease = lease;
    this.#log = new ProgressLog(parts.log.child({ jobId: lease.jobId }));
    this.signal = AbortSignal.any([this.#lost.signal, stopped]);
    this.#timer = setInterval(() => void this.#beat(), beatMs);
  }

  onProgress(progress: Progress): void {
    this.#progress = progress;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** While the database is away nobody else gets the lease either: the work goes on. */
  async #beat(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const { queue, database, log } = this.#parts;
    this.#log.note(this.#progress, performance.now());
    try {
      if (!(await queue.extend(this.lease))) {
        this.#lost.abort(new LeaseLost());
        return;
      }
      const { doneMs, totalMs } = this.#progress;
      if (doneMs > this.#writtenMs) {
        await writeProgress(database.db, this.lease, (doneMs / totalMs) * 100);
        this.#writtenMs = doneMs;
      }
    } catch (error) {
      log.warn({ jobId: this.lease.jobId, ...errorFields(error) }, "job.beat_failed");
    } finally {
      this.#isBusy = false;
    }
  }
}
