import { databaseTrouble, isDatabaseTrouble } from "../database/database-trouble.ts";
import { LeaseKeeper } from "../database/lease-keeper.ts";
import { attemptsMax, LeaseLost } from "../database/lease.ts";
import { leaveToKeepers } from "../database/leave-to-keepers.ts";
import { retryWhileDatabaseDown } from "../database/retry-while-down.ts";
import { noEngine } from "../engines/protocol/engine-absence.ts";
import { isPassingFailure } from "../describe/passing-failure.ts";
import type { Arrivals } from "../jobs/arrivals.ts";
import { failureStatus, internalFailure, poisonFailure } from "../jobs/job-failure.ts";
import type { JobWorker } from "../jobs/worker/worker.ts";
import { AvoidedAccounts, isLackingMedia, lostMedia } from "../media/lacking-media.ts";
import type { JobRecorder } from "../metrics/recorders.ts";
import { errorFields } from "../std/log.ts";
import { repeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { reasonOf, traced, traceWait, type Span } from "../tracing/tracing.ts";
import { alignTranscript, findChange, type AlignTranscriptParts } from "./align-transcript.ts";
import {
  extendAlignment,
  failAlignment,
  leaseAlignment,
  releaseAlignment,
  type LeasedAlignment,
} from "./lease-alignments.ts";

export interface AlignmentWorkerParts extends AlignTranscriptParts {
  /** Wakes the worker when a job was submitted on this node. */
  readonly arrivals: Arrivals;
  /** The number of jobs that run concurrently, whichever accounts they belong to. */
  readonly parallelism: number;
  /** Records attempts, for the metrics of the node. */
  readonly recorder?: JobRecorder | undefined;
}

/**
 * The number of further jobs, only of accounts that have none running here. Their jobs begin even
 * if another account keeps the worker busy for hours.
 */
const otherAccounts = 4;
/** The interval at which a queue without jobs is polled. */
const pollMs = 500;
/** The wait after a database failure. */
const troubleMs = 2_000;
/** The time within which every worker extends its leases once the database is available again. */
const keepersMs = 1_500;
/**
 * The interval at which a lease is extended, progress is written, and a cancelled job or a change
 * of the transcript is noticed.
 */
const extendEveryMs = 1_000;
/** The wait before the second attempt; the wait before the third is four times as long. */
const againAfterMs = 2_000;
/**
 * How long the end of a job is retried while the database is down. A job that could not be ended is
 * attempted again.
 */
const giveUpAfterMs = 60_000;

/**
 * Opens a worker that runs alignment jobs until it is disposed of. It then releases the jobs that
 * it has not finished; another attempt aligns them from the start.
 */
export function openAlignmentWorker(parts: AlignmentWorkerParts): JobWorker {
  return new AlignmentWorker(parts);
}

class AlignmentWorker implements JobWorker {
  readonly #parts: AlignmentWorkerParts;
  readonly #running = new Map<LeasedAlignment, Promise<void>>();
  readonly #avoided = new AvoidedAccounts();
  readonly #stopping = new AbortController();
  readonly #loop: Promise<void>;

  constructor(parts: AlignmentWorkerParts) {
    this.#parts = parts;
    const { db, log } = parts;
    const { signal } = this.#stopping;
    const failing = { afterFailureMs: troubleMs, isWarning: isDatabaseTrouble };
    const lease = leaveToKeepers(() => this.#lease(), { db, waitMs: keepersMs, signal });
    const options = { everyMs: 0, ...failing, log, event: "alignment.lease_failed", signal };
    this.#loop = repeat(options, lease);
  }

  get running(): number {
    return this.#running.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    await this.#loop;
    await Promise.all(this.#running.values());
  }

  /** Leases and starts the next job if there is room for it; otherwise waits until there may be. */
  async #lease(): Promise<void> {
    const { db, arrivals, parallelism } = this.#parts;
    const running = [...this.#running.keys()];
    const others = running.length < parallelism ? [] : running.map(({ accountId }) => accountId);
    const job =
      running.length < parallelism + otherAccounts
        ? await leaseAlignment(db, {
            passedOver: [...others, ...this.#avoided.ids()],
            running: running.map(({ lease }) => lease.id),
          })
        : undefined;
    if (job) this.#start(job);
    else await arrivals.next(pollMs, this.#stopping.signal);
  }

  #start(job: LeasedAlignment): void {
    const { log, arrivals } = this.#parts;
    const run = this.#run(job)
      .catch((error: unknown) => {
        log.error({ jobId: job.lease.id, ...errorFields(error) }, "alignment.lost");
      })
      .finally(() => {
        this.#running.delete(job);
        arrivals.announce();
      });
    this.#running.set(job, run);
  }

  /** Runs an attempt as a step of the trace in which the job was submitted. */
  async #run(job: LeasedAlignment): Promise<void> {
    const { traceparent, waitedMs } = job;
    traceWait("queue alignment job", { parent: traceparent, waitedMs });
    const options = { kind: "consumer", parent: traceparent ?? "" } as const;
    await traced("process alignment job", options, (span) => this.#attempt(job, span));
  }

  async #attempt(job: LeasedAlignment, span: Span | undefined): Promise<void> {
    const { db, log, recorder } = this.#parts;
    const { lease, attempts } = job;
    const jobId = lease.id;
    const changed = new AbortController();
    let percent: number | undefined;
    const extend = async (): Promise<boolean> => {
      const isLeased = await extendAlignment(db, lease, percent);
      const change = isLeased ? await findChange(db, job) : undefined;
      if (change) changed.abort(change);
      return isLeased;
    };
    const keeping = { everyMs: extendEveryMs, log, event: "alignment.lease_not_extended" };
    const keeper = new LeaseKeeper(extend, keeping);
    const signal = AbortSignal.any([keeper.lost, changed.signal, this.#stopping.signal]);
    const startedAt = performance.now();
    log.info({ jobId, attempts }, "alignment.started");
    recorder?.began();
    try {
      if (attempts > attemptsMax) throw poisonFailure(attemptsMax);
      const onProgress = (now: number): void => void (percent = Math.max(percent ?? 0, now));
      const { durationMs } = await alignTranscript(this.#parts, { job, signal, onProgress });
      const ms = Math.round(performance.now() - startedAt);
      log.info({ jobId, ms }, "alignment.succeeded");
      recorder?.succeeded(durationMs / 1000, ms / 1000);
    } catch (error) {
      const reason: unknown = signal.aborted ? signal.reason : error;
      span?.fail(reasonOf(reason));
      await this.#failed(job, reason);
    } finally {
      keeper.stop();
    }
  }

  /** Releases the job, immediately or for an attempt after a delay, or ends it as ERROR. */
  async #failed(job: LeasedAlignment, error: unknown): Promise<void> {
    const { db, log, recorder } = this.#parts;
    const { lease, attempts, accountId } = job;
    const fields = { jobId: lease.id, attempts };
    const withinTime = AbortSignal.timeout(giveUpAfterMs);
    if (error instanceof LeaseLost) {
      log.info(fields, "alignment.lease_lost");
      recorder?.released();
      return;
    }
    if (error === this.#stopping.signal.reason) {
      log.info(fields, "alignment.released");
      recorder?.released();
      await releaseAlignment(db, lease, { afterMs: 0, isForgiven: true });
      return;
    }
    // While the media store, the database or the engine is unavailable, the failure is unrelated to
    // this job.
    const lacksEngine = error instanceof ServiceError && error.reason === noEngine;
    const isForgiven =
      lacksEngine ||
      (error instanceof ServiceError && error.reason === "STORAGE_UNAVAILABLE") ||
      databaseTrouble(error)?.reason === "DATABASE_UNAVAILABLE";
    if (isForgiven || (isPassingFailure(error) && attempts < attemptsMax)) {
      log.warn({ ...fields, ...errorFields(error) }, "alignment.attempt_failed");
      recorder?.retried();
      const engineMs = lacksEngine ? (error.retryAfterMs ?? 0) : 0;
      const afterMs = Math.max(engineMs, againAfterMs * 4 ** (attempts - 1));
      if (isLackingMedia(error)) this.#avoided.avoid(accountId, afterMs);
      const released = { afterMs, isForgiven };
      await retryWhileDatabaseDown(withinTime, () => releaseAlignment(db, lease, released));
      return;
    }
    const failure = failureOf(error);
    const why = { ...fields, code: failure.code, reason: failure.reason };
    if (error === failure) log.info(why, "alignment.failed");
    else log.error({ ...why, ...errorFields(error) }, "alignment.failed");
    recorder?.failed(failure.reason);
    const status = failureStatus(failure);
    await retryWhileDatabaseDown(withinTime, () => failAlignment(db, lease, status));
  }
}

/** Returns the error that the caller receives. */
function failureOf(error: unknown): ServiceError {
  if (isLackingMedia(error)) return lostMedia(attemptsMax);
  return error instanceof ServiceError ? error : internalFailure;
}
