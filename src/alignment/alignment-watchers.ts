import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { ListPosition } from "../std/page-request.ts";
import { ServiceError } from "../std/service-error.ts";
import { matchesFilter, type AlignmentFilter } from "./alignment-filter.ts";
import { findChangedAlignments, listAlignments } from "./alignment-store.ts";
import { isOpen, type StoredAlignment } from "./stored-alignment.ts";

/** The interval at which the jobs of all watched accounts are polled. */
const lookMs = 500;
/**
 * How far back each poll looks, since a transaction that began earlier may commit later. Jobs that
 * a watcher has already sent are not sent again.
 */
const windowMs = 15_000;
/**
 * How long a watcher remembers a job that has ended. If it forgets one too early, because clocks
 * differ, that job is sent twice.
 */
const rememberMs = 60_000;
/** The interval after which an empty message is sent, so that proxies do not close the stream. */
const repeatMs = 30_000;
/** The maximum number of jobs of a message. */
const jobsAtOnce = 100;

/** The maximum number of streams that one account, and all accounts together, may have open. */
const alignmentWatchesMax = { account: 100, node: 2_000 } as const;

/** A message of a stream: all jobs in parts, and then those that are new or have changed. */
export interface SeenAlignments {
  readonly isUpdate: boolean;
  readonly jobs: readonly StoredAlignment[];
}

/**
 * Notifies the watchers of this node of changes to the alignment jobs of their accounts, wherever
 * the workers are. One statement polls all watched accounts, and none runs while nothing is
 * watched.
 */
export class AlignmentWatchers {
  readonly #db: Kysely<Tables>;
  readonly #stopping: AbortSignal | undefined;
  readonly #log: Log;
  readonly #watchers = new Set<Watcher>();
  #isLooking = false;

  /** When `stopping` aborts, all streams end with its reason. */
  constructor(
    db: Kysely<Tables>,
    { stopping, log }: { readonly stopping?: AbortSignal | undefined; readonly log: Log },
  ) {
    this.#db = db;
    this.#stopping = stopping;
    this.#log = log;
  }

  /**
   * Yields the jobs of the account that match the filter, newest first, unless `updateOnly`; then
   * each change, until the signal aborts. Throws resource_exhausted if too many streams are open.
   */
  async *watch(
    accountId: string,
    { filter, updateOnly }: { readonly filter: AlignmentFilter; readonly updateOnly: boolean },
    signal: AbortSignal,
  ): AsyncGenerator<SeenAlignments, void, undefined> {
    this.#checkRoom(accountId);
    const watcher = new Watcher(accountId, filter);
    const ending = this.#stopping ? AbortSignal.any([signal, this.#stopping]) : signal;
    this.#watchers.add(watcher);
    if (!this.#isLooking) void this.#run();
    try {
      if (updateOnly) watcher.know(await findChangedAlignments(this.#db, [accountId], windowMs));
      else yield* this.#all(watcher);
      for (;;) yield { isUpdate: true, jobs: await watcher.next(ending) };
    } finally {
      this.#watchers.delete(watcher);
    }
  }

  async *#all(watcher: Watcher): AsyncGenerator<SeenAlignments, void, undefined> {
    const { accountId, filter } = watcher;
    for (let after: ListPosition | undefined, isLast = false; !isLast;) {
      const page = { after, size: jobsAtOnce };
      const { jobs, next } = await listAlignments(this.#db, { accountId, filter }, page);
      watcher.know(jobs);
      yield { isUpdate: false, jobs };
      after = next;
      isLast = next === undefined;
    }
  }

  #checkRoom(accountId: string): void {
    const { account, node } = alignmentWatchesMax;
    const own = [...this.#watchers].filter((watcher) => watcher.accountId === accountId);
    if (own.length >= account) {
      throw watchesFull(`the account has ${account} streams of alignment jobs open already`);
    }
    if (this.#watchers.size >= node) {
      throw watchesFull(`${node} streams of alignment jobs are open here already`);
    }
  }

  /** Polls the jobs of the watched accounts while there are any. */
  async #run(): Promise<void> {
    this.#isLooking = true;
    for (let lookedMs = performance.now(); this.#watchers.size > 0; await sleep(lookMs)) {
      const startMs = performance.now();
      const accountIds = new Set(Array.from(this.#watchers, ({ accountId }) => accountId));
      try {
        const sinceMs = windowMs + startMs - lookedMs;
        const jobs = await findChangedAlignments(this.#db, [...accountIds], sinceMs);
        for (const watcher of this.#watchers) watcher.take(jobs);
        lookedMs = startMs;
      } catch (error) {
        // The streams stay open; the next poll looks further back.
        const level = isDatabaseTrouble(error) ? "warn" : "error";
        this.#log[level](errorFields(error), "alignment.watch_failed");
      }
    }
    this.#isLooking = false;
  }
}

/** One stream: what it has sent, and what has changed since. */
class Watcher {
  readonly accountId: string;
  readonly filter: AlignmentFilter;
  readonly #known = new Map<string, StoredAlignment>();
  readonly #changed = new Map<string, StoredAlignment>();
  #wake = (): void => {};

  constructor(accountId: string, filter: AlignmentFilter) {
    this.accountId = accountId;
    this.filter = filter;
  }

  /** Notes jobs that need not be sent again unless they change. */
  know(jobs: readonly StoredAlignment[]): void {
    const from = Date.now() - rememberMs;
    for (const job of jobs) if (isOpen(job) || +job.updatedAt > from) this.#known.set(job.id, job);
  }

  /** Receives the jobs that have changed lately. */
  take(jobs: readonly StoredAlignment[]): void {
    for (const job of jobs) {
      if (job.accountId === this.accountId && matchesFilter(job, this.filter)) {
        this.#changed.set(job.id, job);
      }
    }
    if (this.#changed.size > 0) this.#wake();
  }

  /** Resolves to the next jobs to send, or to none after repeatMs. */
  async next(signal: AbortSignal): Promise<readonly StoredAlignment[]> {
    const timeout = AbortSignal.timeout(repeatMs);
    for (;;) {
      signal.throwIfAborted();
      const jobs = this.#takeNews();
      if (jobs.length > 0 || timeout.aborted) return jobs;
      await this.#change(AbortSignal.any([signal, timeout]));
    }
  }

  #takeNews(): readonly StoredAlignment[] {
    const news: StoredAlignment[] = [];
    for (const [id, job] of this.#changed) {
      if (news.length === jobsAtOnce) break;
      this.#changed.delete(id);
      if (isNews(this.#known.get(id), job)) news.push(job);
    }
    this.know(news);
    const from = Date.now() - rememberMs;
    for (const [id, job] of this.#known) {
      if (!isOpen(job) && +job.updatedAt <= from) this.#known.delete(id);
    }
    return news;
  }

  async #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = (): void => resolve();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    await promise;
    signal.removeEventListener("abort", wake);
  }
}

function isNews(known: StoredAlignment | undefined, job: StoredAlignment): boolean {
  return (
    !known ||
    (job.updatedAt >= known.updatedAt &&
      (known.state !== job.state || known.progressPercent !== job.progressPercent))
  );
}

function watchesFull(problem: string): ServiceError {
  return new ServiceError("resource_exhausted", `${problem}: try again later`, {
    reason: "WATCHES_FULL",
    retryAfterMs: 1_000,
  });
}
