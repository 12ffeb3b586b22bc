import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";
import { jobNotFound } from "./job-name.ts";
import { findChangedJobs } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** How often the jobs that are watched are looked at. */
const lookMs = 500;
/** Those who come within this time are answered together. */
const gatherMs = 10;
/** Without a change the same is told again after this: less than proxies take for the end of a stream (60 s). */
const repeatMsDefault = 30_000;

/** Streams that one account may have open at a node, and all accounts together. */
export const watchesMax = { account: 1_000, node: 10_000 } as const;

/**
 * Tells how jobs change to those who watch them at this node, wherever their workers are: one statement looks at all of these jobs,
 * twice a second and when somebody comes, and none while nobody watches. While the database is away, who has been told something
 * stays and is told more when it is back; who has not gets the error.
 */
export class JobWatchers {
  readonly #db: Kysely<Tables>;
  readonly #stopping: AbortSignal | undefined;
  readonly #repeatMs: number;
  readonly #jobs = new Map<string, WatchedJob>();
  readonly #counts = new Map<string, number>();
  #count = 0;
  #isLooking = false;
  #wake = (): void => {};

  /** `stopping` ends what is watched by then, and what comes later, with its reason. */
  constructor(
    db: Kysely<Tables>,
    options: { readonly stopping?: AbortSignal | undefined; readonly repeatMs?: number } = {},
  ) {
    const { stopping, repeatMs = repeatMsDefault } = options;
    this.#db = db;
    this.#stopping = stopping;
    this.#repeatMs = repeatMs;
    stopping?.addEventListener("abort", () => {
      for (const { watchers } of this.#jobs.values()) {
        for (const watcher of watchers) watcher.end(stopping.reason);
      }
    });
  }

  /**
   * The job at once, then with each change of state or progress, the newest where several came; it ends with the job. Throws
   * not_found for what is no job of the account, resource_exhausted when it watches too many.
   */
  async *watch(
    accountId: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<StoredJob, void, undefined> {
    signal.throwIfAborted();
    this.#stopping?.throwIfAborted();
    const watcher = new Watcher(accountId);
    const leave = this.#enter(id, watcher);
    const onAbort = (): void => watcher.end(signal.reason);
    signal.addEventListener("abort", onAbort);
    try {
      for (;;) {
        const job = await watcher.next();
        yield job;
        if (job.state !== "PROCESSING") return;
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      leave();
    }
  }

  #enter(id: string, watcher: Watcher): () => void {
    const { accountId } = watcher;
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= watchesMax.account) {
      throw watchesFull(`the account watches ${watchesMax.account} jobs at a time already`);
    }
    if (this.#count >= watchesMax.node) {
      throw watchesFull(`${watchesMax.node} jobs are watched here at a time already`);
    }
    this.#counts.set(accountId, count + 1);
    this.#count++;
    const watched = this.#jobs.get(id) ?? { id, job: undefined, watchers: new Set<Watcher>() };
    this.#jobs.set(id, watched.watchers.add(watcher) && watched);
    this.#wake();
    if (!this.#isLooking) void this.#run();
    return () => {
      const left = (this.#counts.get(accountId) ?? 1) - 1;
      if (left > 0) this.#counts.set(accountId, left);
      else this.#counts.delete(accountId);
      this.#count--;
      watched.watchers.delete(watcher);
      if (watched.watchers.size === 0) this.#jobs.delete(id);
      if (this.#jobs.size === 0) this.#wake();
    };
  }

  /** Looks at the jobs for as long as somebody watches. */
  async #run(): Promise<void> {
    this.#isLooking = true;
    for (let lookAt = 0; this.#jobs.size > 0;) {
      await sleep(gatherMs);
      const now = performance.now();
      const isTurn = now >= lookAt;
      if (isTurn) lookAt = now + lookMs;
      const jobs = [...this.#jobs.values()];
      await this.#look(jobs.filter((each) => hasNew(each) || (isTurn && !isOver(each))));
      if (![...this.#jobs.values()].some(hasNew)) await this.#pause(lookAt);
    }
    this.#isLooking = false;
  }

  async #pause(until: number): Promise<void> {
    if (this.#jobs.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, until - performance.now()));
    this.#wake = resolve;
    await promise;
    this.#wake = () => {};
    clearTimeout(timer);
  }

  async #look(jobs: readonly WatchedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const now = performance.now();
    const repeatFrom = now - this.#repeatMs;
    // Who comes while the database answers is told what it says next time.
    const told = jobs.map((watched) => ({ watched, watchers: [...watched.watchers] }));
    const isDue = ({ toldAt }: Watcher): boolean => toldAt <= repeatFrom;
    try {
      // Times change more often than what is told: who is due whatever it is gets the job as it is now.
      const known = told.map(({ watched: { id, job }, watchers }) =>
        watchers.some(isDue) ? { id } : { id, ...job },
      );
      const found = await findChangedJobs(this.#db, known);
      for (const { watched, watchers } of told) {
        const isChanged = found.has(watched.id) && !isSame(watched.job, found.get(watched.id));
        if (found.has(watched.id)) watched.job = found.get(watched.id);
        for (const watcher of watchers) {
          if (isChanged || isDue(watcher)) watcher.take(watched, now);
        }
      }
    } catch (error) {
      const isAway = databaseTrouble(error) !== undefined;
      for (const watcher of told.flatMap(({ watchers }) => watchers)) {
        if (!isAway || watcher.isNew) watcher.end(error);
      }
    }
  }
}

interface WatchedJob {
  readonly id: string;
  /** As it was last seen. */
  job: StoredJob | undefined;
  readonly watchers: Set<Watcher>;
}

/** Whether there is nothing to tell. */
function isSame(before: StoredJob | undefined, now: StoredJob | undefined): boolean {
  if (!before || !now) return false;
  return before.state === now.state && before.progressPercent === now.progressPercent;
}

function hasNew({ watchers }: WatchedJob): boolean {
  return [...watchers].some(({ isNew }) => isNew);
}

function isOver({ job }: WatchedJob): boolean {
  return job !== undefined && job.state !== "PROCESSING";
}

/** One who watches a job: holds what is to be told next, the newest alone. */
class Watcher {
  readonly accountId: string;
  #toldAt = -Infinity;
  #next: StoredJob | undefined;
  #end: { readonly error: unknown } | undefined;
  #wake = (): void => {};

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  get toldAt(): number {
    return this.#toldAt;
  }

  /** Whether it has been told nothing yet. */
  get isNew(): boolean {
    return this.#toldAt === -Infinity && this.#end === undefined;
  }

  take({ id, job }: WatchedJob, now: number): void {
    if (job?.accountId !== this.accountId) return this.end(jobNotFound(`transcriptjob/${id}`));
    this.#toldAt = now;
    this.#next = job;
    this.#wake();
  }

  /** What was to be told is told before. */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  async next(): Promise<StoredJob> {
    for (;;) {
      const job = this.#next;
      this.#next = undefined;
      if (job) return job;
      if (this.#end) throw this.#end.error;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function watchesFull(problem: string): ServiceError {
  return new ServiceError("resource_exhausted", problem, { reason: "WATCHES_FULL" });
}
