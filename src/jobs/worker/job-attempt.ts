import type { Kysely } from "kysely";
import { LeaseKeeper } from "../../database/lease-keeper.ts";
import { retryWhileDatabaseDown } from "../../database/retry-while-down.ts";
import type { Tables } from "../../database/tables.ts";
import type { Log } from "../../std/log.ts";
import type { EngineSlots } from "./engine-slots.ts";
import { JobProgress } from "./job-progress.ts";
import { extendJob, isLastAttempt, leaseMs, resetAttempts, type LeasedJob } from "./lease-jobs.ts";
import { ProgressLog } from "./progress-log.ts";
import type { RunningJob, RunningJobs } from "./running-jobs.ts";

/**
 * The interval at which a lease is extended, progress is written and a cancelled job is noticed.
 */
const extendEveryMs = 1_000;
/**
 * The number of pieces that may have been in progress when a worker died, in addition to one for
 * each engine: the next piece, and the piece that was being cut.
 */
const piecesAhead = 2;

/** The parts that the attempts of a worker share. */
export interface AttemptParts {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly slots: EngineSlots;
  readonly running: RunningJobs;
  /** The number of engines of the worker. */
  readonly parallelism: number;
  /**
   * Aborts when the worker is to stop: jobs are released once the pieces that are being recognized
   * are kept.
   */
  readonly stopping: AbortSignal;
  /** Aborts when the time to stop is over: work ends immediately. */
  readonly stopped: AbortSignal;
}

/** One attempt of this worker at a job, from the lease to the end of the job or its release. */
export class JobAttempt implements RunningJob {
  readonly job: LeasedJob;
  /** The number of attempts at the job, including this one. */
  attempts: number;
  /** Whether this attempt is counted. The last attempt is not counted until countLastAttempt(). */
  isCounted: boolean;
  readonly progress = new JobProgress();
  /** Aborts when the work must end immediately: the lease is lost, or the worker has stopped. */
  readonly signal: AbortSignal;
  /** Aborts when the work must end once the pieces that are being recognized are kept. */
  readonly stopping: AbortSignal;
  readonly #parts: AttemptParts;
  readonly #keeper: LeaseKeeper;
  readonly #leaving = new AbortController();
  readonly #log: ProgressLog;
  #writtenMs = 0;
  /** The time when the lease was last extended, or when the database last failed to respond. */
  #extendedMs = performance.now();
  #hasBegun = false;
  #hasMedia = false;
  #isSmall: boolean | undefined;
  #model: string | undefined;
  #piecesKept = 0;

  constructor(parts: AttemptParts, job: LeasedJob) {
    const log = parts.log.child({ jobId: job.lease.id });
    this.job = job;
    this.attempts = job.attempts;
    this.isCounted = !isLastAttempt(job);
    this.#parts = parts;
    this.#log = new ProgressLog(log);
    const keeping = { everyMs: extendEveryMs, log, event: "job.lease_not_extended" };
    this.#keeper = new LeaseKeeper(async () => this.#extend(), keeping);
    this.signal = AbortSignal.any([this.#keeper.lost, parts.stopped]);
    this.stopping = AbortSignal.any([parts.stopping, this.#leaving.signal]);
  }

  get id(): string {
    return this.job.lease.id;
  }

  /**
   * Whether this worker extends the lease in time. If the lease is lost nevertheless, the database
   * was unavailable or its clock has jumped.
   */
  get isExtendedInTime(): boolean {
    return performance.now() - this.#extendedMs < leaseMs;
  }

  get accountId(): string {
    return this.job.accountId;
  }

  get hasMedia(): boolean {
    return this.#hasMedia;
  }

  get isSmall(): boolean | undefined {
    return this.#isSmall;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isLeaving(): boolean {
    return this.stopping.aborted;
  }

  /** The number of pieces kept in this attempt. */
  get piecesKept(): number {
    return this.#piecesKept;
  }

  leave(): void {
    this.#leaving.abort(new Error("the job makes room for others"));
  }

  /** Stops extending the lease. */
  end(): void {
    this.#keeper.stop();
  }

  /** Waits for an engine; resolves to a function that releases it. */
  async takeEngine(signal: AbortSignal): Promise<() => void> {
    const release = await this.#parts.slots.take(this, signal);
    this.#hasBegun = true;
    return release;
  }

  /** Called once it is known whether the recording is a single piece. */
  sized(isSmall: boolean): void {
    this.#isSmall = isSmall;
    this.#parts.running.sized(this);
  }

  /** Called with the name of the model that recognizes the media. */
  uses(model: string): void {
    this.#model = model;
  }

  mediaKept(): void {
    this.#hasMedia = true;
  }

  /**
   * Lets other jobs run again once a job that ran alone has passed the piece at which its worker
   * died.
   */
  async pieceKept(): Promise<void> {
    this.#piecesKept += 1;
    const { db, running, parallelism } = this.#parts;
    if (!running.isAlone(this) || this.#piecesKept < parallelism + piecesAhead) return;
    await retryWhileDatabaseDown(this.signal, () => resetAttempts(db, this.job.lease));
    running.share(this);
  }

  async #extend(): Promise<boolean> {
    const { doneMs, totalMs } = this.progress;
    this.#log.note(this.progress, performance.now());
    const percent = doneMs > this.#writtenMs ? (doneMs / totalMs) * 100 : undefined;
    // The job has blocked its worker for at least the duration of a lease, so another worker may
    // lease it.
    if (!this.isExtendedInTime) return false;
    let isHeld = true;
    try {
      isHeld = await extendJob(this.#parts.db, this.job.lease, percent, this.#model);
      this.#writtenMs = doneMs;
    } finally {
      if (isHeld) this.#extendedMs = performance.now();
    }
    return isHeld;
  }
}
