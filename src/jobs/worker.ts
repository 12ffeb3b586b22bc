import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../database/database-trouble.ts";
import { errorFields } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { failureStatus, internalFailure, isPassingFailure, poisonFailure } from "./job-failure.ts";
import type { JobLease } from "./job-queue.ts";
import { persist } from "./persist.ts";
import { LeaseLost, runJob, type JobParts } from "./run-job.ts";
import { prepareScratchFolder } from "./scratch-file.ts";
import { Slots } from "./slots.ts";
import { sweepJobs } from "./sweep-jobs.ts";
import {
  beginTry,
  failTry,
  takeTryBack,
  triesOf,
  writeProgress,
  type LeasedJob,
} from "./try-store.ts";

export interface WorkerParts extends Omit<JobParts, "slots" | "retryMs"> {
  /** Pieces of recordings recognised at a time: the number of engine processes. */
  readonly parallelism: number;
  /** Wait before a piece is tried again whose engine was lost; eight times as long before a job is. Default 250. */
  readonly retryMs?: number;
}

/** A job is tried this often, whether it fails or its worker dies. */
export const triesMax = 3;
const pollMs = 500;
/** How often a lease is extended, progress written and a cancelled job noticed. */
const beatMs = 1_000;
const sweepMs = 30_000;
/** How long a worker that stops waits for pieces to be kept. */
const stopMsMax = 5_000;
/** How long the end of a job is tried to be written; without it, the job is tried again. */
const patienceMs = 60_000;
/** Beside the jobs that keep the engines busy, some that wait for their media. */
const fetchingJobs = 2;

/** Works on jobs until it is disposed of: then it gives back what it has not finished, to go on elsewhere at once. */
export async function openWorker(parts: WorkerParts): Promise<AsyncDisposable> {
  await prepareScratchFolder(parts.scratchFolder);
  const worker = new Worker({ retryMs: 250, ...parts, slots: new Slots(parts.parallelism) });
  return worker;
}

class Worker implements AsyncDisposable {
  readonly #parts: JobParts & Pick<WorkerParts, "parallelism">;
  readonly #jobs: Slots;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<unknown>;

  constructor(parts: JobParts & Pick<WorkerParts, "parallelism">) {
    this.#parts = parts;
    this.#jobs = new Slots(parts.parallelism + fetchingJobs);
    this.#loop = Promise.all([this.#lease(), this.#sweep()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loop;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  /** Takes the next job whenever there is room for one. */
  async #lease(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const giveBack = await this.#jobs.take(signal);
        const isStarted = await this.#next(giveBack);
        if (isStarted) continue;
        giveBack();
        await sleep(pollMs, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) await this.#wait(error, "worker.lease_failed");
      }
    }
  }

  /** Deletes now and then what ended jobs have left. */
  async #sweep(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await sweepJobs(this.#parts);
        await sleep(sweepMs, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) await this.#wait(error, "worker.sweep_failed");
      }
    }
  }

  async #wait(problem: unknown, event: string): Promise<void> {
    const isAway = databaseTrouble(problem) !== undefined;
    this.#parts.log[isAway ? "warn" : "error"](errorFields(problem), event);
    await sleep(pollMs * 4, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /** Starts the next job; false when none waits. Resolves when the worker may take another one. */
  async #next(giveBack: () => void): Promise<boolean> {
    const { queue, database, log } = this.#parts;
    const lease = await queue.lease().catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (!lease) return false;
    const claim = new Claim(this.#parts, lease, this.#stopped.signal);
    // On its last try a job runs alone, so that it is not ended for what another one did to the worker.
    const tries = await triesOf(database.db, lease.jobId).catch(() => 0);
    const isAlone = tries >= triesMax - 1;
    if (isAlone) await Promise.all(this.#running);
    const run = this.#run(claim)
      .catch((error: unknown) => {
        log.error({ jobId: lease.jobId, ...errorFields(error) }, "job.lost");
      })
      .finally(() => {
        claim.stop();
        giveBack();
        this.#running.delete(run);
      });
    this.#running.add(run);
    if (isAlone) await run;
    return true;
  }

  async #run(claim: Claim): Promise<void> {
    const { lease, signal } = claim;
    const { log, database, queue } = this.#parts;
    const { jobId } = lease;
    const job = await persist(signal, async () => await beginTry(database.db, lease));
    if (!job) {
      // It ended, or went with its account, between two statements: nobody needs to lease it again.
      await database.db.transaction().execute(async (trx) => await queue.end(trx, lease));
      return;
    }
    const startedAt = performance.now();
    log.info({ jobId, tries: job.tries }, "job.started");
    try {
      if (job.tries > triesMax) throw poisonFailure(triesMax);
      const onProgress = claim.onProgress.bind(claim);
      await runJob(this.#parts, {
        lease,
        job,
        signal,
        stopping: this.#stopping.signal,
        onProgress,
      });
      log.info({ jobId, ms: Math.round(performance.now() - startedAt) }, "job.succeeded");
    } catch (error) {
      await this.#end(claim, job, error);
    }
    await sweepJobs(this.#parts);
  }

  /** Gives the job back, has it tried again, or ends it as FAILED. */
  async #end({ lease, signal }: Claim, job: LeasedJob, error: unknown): Promise<void> {
    const { log, database, queue, retryMs } = this.#parts;
    const { jobId } = lease;
    const { db } = database;
    if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) {
      log.info({ jobId }, "job.lease_lost");
      return await takeTryBack(db, jobId);
    }
    if (this.#stopping.signal.aborted && isPassingFailure(error)) {
      log.info({ jobId }, "job.given_back");
      return await db.transaction().execute(async (trx) => {
        if (await queue.release(trx, lease, 0)) await takeTryBack(trx, jobId);
      });
    }
    const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    const failure = error instanceof ServiceError ? error : internalFailure;
    const fields = { jobId, tries: job.tries, code: failure.code, reason: failure.reason };
    // While the media store is away for everybody, that says nothing against the job.
    const isForgiven = failure.reason === "STORAGE_UNAVAILABLE";
    if (isPassingFailure(error) && (isForgiven || job.tries < triesMax)) {
      log.warn({ ...fields, ...errorFields(error) }, "job.try_failed");
      const afterMs = 8 * retryMs * 4 ** (job.tries - 1);
      await persist(patience, async () =>
        db.transaction().execute(async (trx) => {
          const isReleased = await queue.release(trx, lease, afterMs);
          if (isReleased && isForgiven) await takeTryBack(trx, jobId);
        }),
      );
      return;
    }
    if (error === failure) log.info(fields, "job.failed");
    else log.error({ ...fields, ...errorFields(error) }, "job.failed");
    await persist(patience, async () =>
      db.transaction().execute(async (trx) => {
        await failTry(trx, lease, failureStatus(failure));
        await queue.end(trx, lease);
      }),
    );
  }
}

/** Keeps a lease while its job runs, and tells when it is lost; writes the progress. */
class Claim {
  readonly lease: JobLease;
  readonly signal: AbortSignal;
  readonly #parts: JobParts;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progress = { doneMs: 0, totalMs: 0 };
  #writtenMs = 0;
  #isBusy = false;

  constructor(parts: JobParts, lease: JobLease, stopped: AbortSignal) {
    this.#parts = parts;
    this.lease = lease;
    this.signal = AbortSignal.any([this.#lost.signal, stopped]);
    this.#timer = setInterval(() => void this.#beat(), beatMs);
  }

  onProgress(doneMs: number, totalMs: number): void {
    this.#progress = { doneMs, totalMs };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** While the database is away nobody else gets the lease either: the work goes on. */
  async #beat(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const { queue, database, log } = this.#parts;
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
