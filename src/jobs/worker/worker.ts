import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../../database/database-trouble.ts";
import { Batches } from "../../std/batches.ts";
import { errorFields } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { createFinish, LeaseLost } from "./finish-jobs.ts";
import { IdleWorkers } from "./idle-workers.ts";
import { isPassingFailure } from "../../describe/passing-failure.ts";
import { failureStatus, internalFailure, poisonFailure } from "../job-failure.ts";
import type { JobLease } from "../job-queue.ts";
import { JobTry } from "./job-try.ts";
import { isLackingMedia, LeftAccounts, lostMedia } from "../../media/lacking-media.ts";
import { persist } from "../../database/retry-while-down.ts";
import { PieceSlots } from "./piece-slots.ts";
import { runJob, type JobParts } from "./run-job.ts";
import { RunningJobs } from "./running-jobs.ts";
import { prepareScratchFolder } from "../../describe/scratch-file.ts";
import { sweepJobs } from "./sweep-jobs.ts";
import {
  beginTries,
  clearTries,
  failTry,
  takeTryBack,
  triesOf,
  type LeasedJob,
} from "./try-store.ts";

export interface WorkerParts extends Omit<JobParts, "retryMs" | "finish"> {
  /** Pieces of recordings recognized at a time: the number of engine processes. */
  readonly parallelism: number;
  /**
   * Wait before a piece is tried again whose engine was lost; eight times as long before a job is.
   * Default 250.
   */
  readonly retryMs?: number;
}

/** A job is tried this often, whether it fails or its worker dies. */
export const triesMax = 3;
/** How often a queue without jobs is looked at: seldom, unless it had some just now. */
const pollMs = { min: 50, max: 500 } as const;
/** Wait after the database has failed. */
const troubleMs = 2_000;
const sweepMs = 30_000;
/** How long a worker that stops waits for pieces to be kept. */
const stopMsMax = 5_000;
/** How long the end of a job is tried to be written; without it, the job is tried again. */
const patienceMs = 60_000;
/** Beside the jobs that keep the engines busy, some that wait for their media. */
const fetchingJobs = 2;
/**
 * What has waited so long behind another job goes to a worker that stands idle: it costs more to
 * move what ends sooner.
 */
const standMs = 500;
/** How often a worker where something waits looks for an idle one. */
const shareMs = 250;
/**
 * What may have been recognized when a worker died, beside one piece for each engine: the next, and
 * the one that was being cut.
 */
const piecesAhead = 2;

/**
 * Works on jobs until it is disposed of: then it gives back what it has not finished, to go on
 * elsewhere at once.
 */
export async function openWorker(parts: WorkerParts): Promise<AsyncDisposable> {
  await prepareScratchFolder(parts.scratchFolder);
  const slots = new PieceSlots(parts.parallelism);
  return new Worker({ retryMs: 250, ...parts, slots, finish: createFinish(parts) });
}

type OwnParts = JobParts & Pick<WorkerParts, "parallelism"> & { readonly slots: PieceSlots };

class Worker implements AsyncDisposable {
  readonly #parts: OwnParts;
  readonly #jobs: RunningJobs;
  readonly #idle: IdleWorkers;
  readonly #left = new LeftAccounts();
  /** Tries that begin at the same time share a statement. */
  readonly #tries: Batches<JobLease, LeasedJob | undefined>;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<unknown>;

  constructor(parts: OwnParts) {
    this.#parts = parts;
    this.#jobs = new RunningJobs(parts.parallelism + fetchingJobs);
    const { db } = parts.database;
    this.#idle = new IdleWorkers(db);
    this.#tries = new Batches(async (leases) => await beginTries(db, leases), {
      itemsMax: 64,
      isEverybodys: () => true,
    });
    this.#loop = Promise.all([
      this.#lease(),
      this.#regularly(shareMs, "worker.share_failed", async () => this.#offer()),
      this.#regularly(sweepMs, "worker.sweep_failed", async () => this.#sweep()),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    this.#jobs.wake();
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loop;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  /** Takes the next jobs whenever there is room for some. */
  async #lease(): Promise<void> {
    const { signal } = this.#stopping;
    const { queue } = this.#parts;
    let waitMs: number = pollMs.min;
    while (!signal.aborted) {
      try {
        const next = await this.#next();
        const leases = next ? await queue.lease(next.passedOver, next.count) : [];
        // Before anything that can fail: nobody else extends these leases.
        await this.#startAll(leases);
        if (leases.length > 0) await this.#idle.untell();
        if (leases.length === next?.count) continue;
        waitMs = leases.length > 0 ? pollMs.min : Math.min(2 * waitMs, pollMs.max);
        if (next?.passedOver.length === 0) {
          if (this.#spare() === 0) await this.#idle.untell();
          // Soon it may be given something.
          else if (await this.#idle.tell(this.#jobs.room())) waitMs = pollMs.min;
          await queue.arrival(waitMs, signal);
        } else await this.#jobs.change(pollMs.max);
      } catch (error) {
        if (!signal.aborted) await this.#wait(error, "worker.lease_failed");
      }
    }
  }

  /**
   * How many jobs to take now, and past those of whom; undefined: none. What would only wait here
   * is left to who stands idle.
   */
  async #next(): Promise<{ passedOver: readonly string[]; count: number } | undefined> {
    const busy = this.#jobs.passedOver();
    if (!busy) return undefined;
    const passedOver = [...busy, ...this.#left.now()];
    const count = Math.max(1, this.#jobs.room());
    const spare = this.#spare();
    if (count <= spare || !(await this.#idle.areThere())) return { passedOver, count };
    return spare > 0 ? { passedOver, count: spare } : undefined;
  }

  #spare(): number {
    return this.#jobs.spare(this.#parts.slots.free);
  }

  /**
   * Of the jobs that only wait here, half go back to the queue for each worker that stands idle, at
   * most what that wants.
   */
  async #offer(): Promise<void> {
    for (;;) {
      const standing = this.#parts.slots.standing(standMs);
      const wanted = standing.length === 0 ? 0 : await this.#idle.answer();
      if (wanted === 0) return;
      this.#jobs.giveBack(standing.slice(0, Math.min(wanted, Math.ceil(standing.length / 2))));
    }
  }

  /** Deletes what ended jobs and workers that were killed have left. */
  async #sweep(): Promise<void> {
    await sweepJobs(this.#parts);
    await this.#idle.sweep();
  }

  async #regularly(ms: number, failed: string, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await act();
        await sleep(ms, undefined, { signal });
      } catch (error) {
        if (!signal.aborted) await this.#wait(error, failed);
      }
    }
  }

  async #wait(problem: unknown, event: string): Promise<void> {
    const isAway = databaseTrouble(problem) !== undefined;
    this.#parts.log[isAway ? "warn" : "error"](errorFields(problem), event);
    await sleep(troubleMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  /**
   * On its last try a job is alone at first, so that it is not ended for what another one did to
   * the worker.
   */
  async #startAll(leases: readonly JobLease[]): Promise<void> {
    let alone: JobTry | undefined;
    for (const lease of leases) {
      const isSuspect = await this.#isSuspect(lease);
      if (isSuspect && alone) {
        await this.#putOff(lease);
        continue;
      }
      const job = new JobTry(this.#parts, lease, this.#stopping.signal, this.#stopped.signal);
      this.#jobs.add(job);
      if (isSuspect) alone = job;
      else this.#start(job);
    }
    if (!alone) return;
    await this.#jobs.isolate(alone);
    this.#start(alone);
  }

  /**
   * One is alone at a time; this one has not begun its try. Without the database, its lease runs
   * out.
   */
  async #putOff(lease: JobLease): Promise<void> {
    const { database, queue, log } = this.#parts;
    try {
      await database.db.transaction().execute(async (trx) => await queue.release(trx, lease, 0));
    } catch (error) {
      log.warn({ jobId: lease.jobId, ...errorFields(error) }, "job.put_off_failed");
    }
  }

  async #isSuspect({ jobId, number }: JobLease): Promise<boolean> {
    // It is leased at least as often as it is tried.
    if (number < triesMax) return false;
    return (await triesOf(this.#parts.database.db, jobId).catch(() => 0)) >= triesMax - 1;
  }

  #start(job: JobTry): void {
    const { log, queue } = this.#parts;
    const { lease } = job;
    const run = this.#run(job)
      .catch((error: unknown) => {
        log.error({ jobId: lease.jobId, ...errorFields(error) }, "job.lost");
      })
      .finally(() => {
        job.claim.stop();
        this.#jobs.remove(job);
        this.#running.delete(run);
        // Whoever has nothing left asks the others at once.
        if (this.#running.size === 0) queue.announce();
      });
    this.#running.add(run);
  }

  async #run(attempt: JobTry): Promise<void> {
    const { lease, claim, slots, stopping } = attempt;
    const { signal } = claim;
    const { log, database, queue } = this.#parts;
    const { jobId } = lease;
    const job = await persist(signal, async () => await this.#tries.add(lease));
    if (!job) {
      // It ended, or went with its account, between two statements: nobody needs to lease it again.
      await database.db.transaction().execute(async (trx) => await queue.end(trx, lease));
      return;
    }
    const startedAt = performance.now();
    let isOver = false;
    log.info({ jobId, tries: job.tries }, "job.started");
    try {
      if (job.tries > triesMax) throw poisonFailure(triesMax);
      const onProgress = claim.onProgress.bind(claim);
      const onKept = async (what: "media" | "piece"): Promise<void> => {
        attempt.onKept(what);
        if (this.#jobs.isAlone(attempt)) await this.#share(attempt);
      };
      const onSize = (isSmall: boolean): void => {
        attempt.onSize(isSmall);
        this.#jobs.sized(attempt);
      };
      const on = { onProgress, onKept, onSize };
      await runJob(this.#parts, { lease, job, slots, signal, stopping, ...on });
      log.info({ jobId, ms: Math.round(performance.now() - startedAt) }, "job.succeeded");
      isOver = true;
    } catch (error) {
      await this.#end(attempt, job, error);
    }
    // A transcript that has the media leaves nothing.
    if (!(isOver && this.#parts.keepMedia)) await sweepJobs(this.#parts);
  }

  /** Once a job that was alone has got past where its worker died, others run beside it again. */
  async #share(attempt: JobTry): Promise<void> {
    if (attempt.piecesKept < this.#parts.parallelism + piecesAhead) return;
    await clearTries(this.#parts.database.db, attempt.lease);
    this.#jobs.share(attempt);
  }

  /** Gives the job back, has it tried again, or ends it as FAILED. */
  async #end(attempt: JobTry, job: LeasedJob, error: unknown): Promise<void> {
    const { lease, stopping, piecesKept } = attempt;
    const { signal } = attempt.claim;
    const { log, database, queue, retryMs } = this.#parts;
    const { jobId } = lease;
    const { db } = database;
    if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) {
      log.info({ jobId }, "job.lease_lost");
      // A job that holds its worker up each time loses each lease: that comes to an end too.
      if (piecesKept > 0) await takeTryBack(db, jobId);
      return;
    }
    if (stopping.aborted && isPassingFailure(error)) {
      log.info({ jobId }, "job.given_back");
      return await persist(signal, async () =>
        db.transaction().execute(async (trx) => {
          if (await queue.release(trx, lease, 0)) await takeTryBack(trx, jobId);
        }),
      );
    }
    const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    const isLacking = isLackingMedia(error);
    const failure = isLacking
      ? lostMedia(triesMax)
      : error instanceof ServiceError
        ? error
        : internalFailure;
    const fields = { jobId, tries: job.tries, code: failure.code, reason: failure.reason };
    // While the media store or the database is away for everybody, that says nothing against the
    // job.
    const isForgiven =
      failure.reason === "STORAGE_UNAVAILABLE" ||
      databaseTrouble(error)?.reason === "DATABASE_UNAVAILABLE";
    if (isPassingFailure(error) && (isForgiven || job.tries < triesMax)) {
      log.warn({ ...fields, ...errorFields(error) }, "job.try_failed");
      const afterMs = 8 * retryMs * 4 ** (job.tries - 1);
      if (isLacking) this.#left.leave(lease.accountId, afterMs);
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
