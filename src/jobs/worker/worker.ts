import type { Kysely } from "kysely";
import { attemptsMax } from "../../database/lease.ts";
import { isDatabaseTrouble } from "../../database/database-trouble.ts";
import { leaveToKeepers } from "../../database/leave-to-keepers.ts";
import { retryWhileDatabaseDown } from "../../database/retry-while-down.ts";
import type { Tables } from "../../database/tables.ts";
import { AvoidedAccounts } from "../../media/lacking-media.ts";
import type { JobRecorder } from "../../metrics/recorders.ts";
import { errorFields, type Log } from "../../std/log.ts";
import { reasonOf, traced, traceWait, type Span } from "../../tracing/tracing.ts";
import { repeat } from "../../std/repeat.ts";
import { createAccountHints } from "../../vocabulary/account-hints.ts";
import type { Arrivals } from "../arrivals.ts";
import { poisonFailure } from "../job-failure.ts";
import { AttemptEnd } from "./attempt-end.ts";
import { EngineSlots } from "./engine-slots.ts";
import { createFinish } from "./finish-jobs.ts";
import { IdleWorkers } from "./idle-workers.ts";
import { JobAttempt, type AttemptParts } from "./job-attempt.ts";
import {
  countLastAttempt,
  isLastAttempt,
  leaseJobs,
  releaseJob,
  type LeasedJob,
} from "./lease-jobs.ts";
import { runJob, type JobParts } from "./run-job.ts";
import { RunningJobs } from "./running-jobs.ts";
import { retryMsDefault } from "./transcribe-media.ts";

export interface WorkerParts extends Omit<JobParts, "finish" | "accountHints"> {
  /**
   * Wakes the worker when a job was submitted on this node, or when the worker has no jobs left.
   */
  readonly arrivals: Arrivals;
  /** The number of pieces recognized concurrently, which is the number of engine processes. */
  readonly parallelism: number;
  /** The engines, if other work shares them. Default: `parallelism` slots. */
  readonly slots?: EngineSlots;
  /** Records attempts, for the metrics of the node. */
  readonly recorder?: JobRecorder | undefined;
}

/** The interval at which a queue without jobs is polled, which grows while the queue is empty. */
const pollMs = { min: 50, max: 500 } as const;
/** The wait after a database failure. */
const troubleMs = 2_000;
/** The time within which every worker extends its leases once the database is available again. */
const keepersMs = 1_500;
const sweepMs = 30_000;
/** How long a worker that is stopping waits for pieces to be kept. */
const stopMsMax = 5_000;
/**
 * The number of jobs that a worker leases beyond those that keep the engines busy, so that they can
 * fetch their media.
 */
const fetchingJobs = 2;
/**
 * The time after which a job that waits behind another one is handed over to an idle worker. Moving
 * it sooner costs more than waiting.
 */
const handOverAfterMs = 500;
/** The interval at which a worker with a waiting job looks for an idle worker. */
const handOverEveryMs = 250;

/** A worker of a node; it works until it is disposed of. */
export interface JobWorker extends AsyncDisposable {
  /** The number of jobs that it is running. */
  readonly running: number;
}

/**
 * Opens a worker that runs jobs until it is disposed of. It then releases the jobs that it has not
 * finished.
 */
export async function openWorker(parts: WorkerParts): Promise<JobWorker> {
  await parts.media.prepare();
  return new Worker(parts);
}

class Worker implements JobWorker {
  readonly #parts: WorkerParts & JobParts;
  readonly #db: Kysely<Tables>;
  readonly #log: Log;
  readonly #slots: EngineSlots;
  readonly #jobs: RunningJobs;
  readonly #idle: IdleWorkers;
  readonly #avoided = new AvoidedAccounts();
  readonly #end: AttemptEnd;
  readonly #attempts: AttemptParts;
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #stopped = new AbortController();
  readonly #loops: Promise<unknown>;
  #pollMs: number = pollMs.min;

  constructor(parts: WorkerParts) {
    const { db, log, parallelism, recognition, recorder } = parts;
    const { slots = new EngineSlots(parallelism) } = parts;
    const { retryMs = retryMsDefault } = recognition;
    this.#parts = { ...parts, finish: createFinish(db), accountHints: createAccountHints({ db }) };
    this.#db = db;
    this.#log = log;
    this.#slots = slots;
    this.#jobs = new RunningJobs(parallelism + fetchingJobs);
    this.#idle = new IdleWorkers(db);
    this.#end = new AttemptEnd({ db, log, avoided: this.#avoided, retryMs, recorder });
    this.#attempts = {
      db,
      log,
      parallelism,
      slots: this.#slots,
      running: this.#jobs,
      stopping: this.#stopping.signal,
      stopped: this.#stopped.signal,
    };
    const { signal } = this.#stopping;
    const lease = leaveToKeepers(() => this.#lease(), { db, waitMs: keepersMs, signal });
    this.#loops = Promise.all([
      this.#repeat(0, "worker.lease_failed", lease),
      this.#repeat(handOverEveryMs, "worker.hand_over_failed", () => this.#handOver()),
      this.#repeat(sweepMs, "worker.sweep_failed", () => this.#sweep()),
    ]);
  }

  get running(): number {
    return this.#jobs.ids().length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("the worker stops"));
    this.#jobs.wake();
    const timer = setTimeout(() => this.#stopped.abort(this.#stopping.signal.reason), stopMsMax);
    await this.#loops;
    await Promise.all(this.#running);
    clearTimeout(timer);
  }

  async #repeat(everyMs: number, event: string, act: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopping;
    const failing = { afterFailureMs: troubleMs, isWarning: isDatabaseTrouble };
    await repeat({ everyMs, ...failing, log: this.#log, event, signal }, act);
  }

  /** Leases the next jobs if there is room for any; otherwise waits until there may be. */
  async #lease(): Promise<void> {
    const next = await this.#next();
    const jobs = next ? await leaseJobs(this.#db, { ...next, running: this.#jobs.ids() }) : [];
    // The attempts are started before any other step that can fail, since only an attempt extends
    // its lease.
    await this.#startAll(jobs);
    if (jobs.length > 0) await this.#idle.withdraw();
    if (jobs.length === next?.countMax) return;
    this.#pollMs = jobs.length > 0 ? pollMs.min : Math.min(2 * this.#pollMs, pollMs.max);
    if (next?.passedOver.length !== 0) return await this.#jobs.change(pollMs.max);
    if (this.#spare() === 0) await this.#idle.withdraw();
    // Another worker may soon release a job for this one.
    else if (await this.#idle.advertise(this.#jobs.room())) this.#pollMs = pollMs.min;
    await this.#parts.arrivals.next(this.#pollMs, this.#stopping.signal);
  }

  /**
   * Returns the number of jobs to lease now and the accounts to skip; undefined if no jobs are to
   * be leased. Jobs that would only wait here are left to idle workers.
   */
  async #next(): Promise<{ passedOver: readonly string[]; countMax: number } | undefined> {
    const busy = this.#jobs.passedOver();
    if (!busy) return undefined;
    const passedOver = [...busy, ...this.#avoided.ids()];
    const countMax = Math.max(1, this.#jobs.room());
    const spare = this.#spare();
    if (countMax <= spare || !(await this.#idle.anyIdle())) return { passedOver, countMax };
    return spare > 0 ? { passedOver, countMax: spare } : undefined;
  }

  #spare(): number {
    return this.#jobs.spare(this.#slots.free);
  }

  /**
   * Releases half of the jobs that only wait here for each idle worker, but at most as many as that
   * worker requests.
   */
  async #handOver(): Promise<void> {
    for (;;) {
      const waiting = this.#slots.waitingFor(handOverAfterMs);
      const wanted = waiting.length === 0 ? 0 : await this.#idle.claimRequest();
      if (wanted === 0) return;
      this.#jobs.release(waiting.slice(0, Math.min(wanted, Math.ceil(waiting.length / 2))));
    }
  }

  /** Deletes data left by ended jobs and by workers that were killed. */
  async #sweep(): Promise<void> {
    await this.#parts.media.sweep();
    await this.#idle.sweep();
  }

  /**
   * Starts the attempts. A job at its last attempt runs alone at first, one such job at a time;
   * other such jobs are returned to the queue.
   */
  async #startAll(jobs: readonly LeasedJob[]): Promise<void> {
    const [alone, ...others] = jobs.filter(isLastAttempt);
    const attempt = alone && this.#add(alone);
    for (const job of jobs) if (!isLastAttempt(job)) this.#start(this.#add(job));
    for (const job of others) await this.#putOff(job);
    if (!attempt) return;
    await this.#jobs.isolate(attempt);
    this.#start(attempt);
  }

  #add(job: LeasedJob): JobAttempt {
    const attempt = new JobAttempt(this.#attempts, job);
    this.#jobs.add(attempt);
    return attempt;
  }

  /**
   * Releases a job before its attempt has begun. If the database is unavailable, the job's lease
   * expires instead.
   */
  async #putOff({ lease }: LeasedJob): Promise<void> {
    try {
      await releaseJob(this.#db, lease, { isForgiven: false });
    } catch (error) {
      this.#log.warn({ jobId: lease.id, ...errorFields(error) }, "job.put_off_failed");
    }
  }

  #start(attempt: JobAttempt): void {
    const run = this.#run(attempt)
      .catch((error: unknown) => {
        this.#log.error({ jobId: attempt.id, ...errorFields(error) }, "job.lost");
      })
      .finally(() => {
        attempt.end();
        this.#jobs.remove(attempt);
        this.#running.delete(run);
        // A worker that has no jobs left polls the queue immediately.
        if (this.#running.size === 0) this.#parts.arrivals.announce();
      });
    this.#running.add(run);
  }

  /** Runs an attempt as a step of the trace in which the job was submitted. */
  async #run(attempt: JobAttempt): Promise<void> {
    const { traceparent, waitedMs } = attempt.job;
    traceWait("queue job", { parent: traceparent, waitedMs });
    const options = { kind: "consumer", parent: traceparent ?? "" } as const;
    await traced("process job", options, (span) => this.#attempt(attempt, span));
  }

  async #attempt(attempt: JobAttempt, span: Span | undefined): Promise<void> {
    const { job, signal } = attempt;
    const { lease } = job;
    const startedAt = performance.now();
    let isOver = false;
    const { recorder } = this.#parts;
    recorder?.began();
    try {
      if (isLastAttempt(job)) {
        const count = () => countLastAttempt(this.#db, lease);
        attempt.attempts = await retryWhileDatabaseDown(signal, count);
        attempt.isCounted = true;
      }
      const { attempts } = attempt;
      this.#log.info({ jobId: lease.id, attempts }, "job.started");
      if (attempts > attemptsMax) throw poisonFailure(attemptsMax);
      const { durationMs } = await runJob(this.#parts, attempt);
      const ms = Math.round(performance.now() - startedAt);
      this.#log.info({ jobId: lease.id, ms }, "job.succeeded");
      recorder?.succeeded(durationMs / 1000, ms / 1000);
      isOver = true;
    } catch (error) {
      span?.fail(reasonOf(error));
      await this.#end.failed(attempt, error);
    }
    // A job that succeeded leaves nothing to delete if its transcript keeps the media.
    if (!(isOver && this.#parts.media.keepMedia)) await this.#parts.media.sweep();
  }
}
