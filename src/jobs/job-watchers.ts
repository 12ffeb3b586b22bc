import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { Batches } from "../std/batches.ts";
import { copies, roomMsMax, type NodeWatches } from "../watches/node-watches.ts";
import { jobNotFound } from "./job-name.ts";
import { findChangedJobs, findJobs, type SeenJob } from "./job-store.ts";
import { hasEnded, type StoredJob } from "./stored-job.ts";
import { Watcher } from "./watcher.ts";

/** The interval at which the watched jobs are polled. */
const lookMs = 500;
/** The time within which new watchers share a statement. */
const gatherMs = 10;

/**
 * The number of jobs that are read together to be sent: short ones, and those with long metadata,
 * up to a megabyte each.
 */
const readAtOnce = { short: 1_000, long: 16 } as const;
const shortBytesMax = 8_192;

/**
 * The maximum number of watchers that request their job at the same moment and are served in one
 * statement: a few milliseconds of work.
 */
const wokenAtOnce = readAtOnce.short;

/**
 * Notifies the watchers of this node of changes to their jobs, wherever the workers are. One
 * statement polls all watched jobs, twice a second and when a watcher arrives. Another one reads
 * the jobs that have changed. Neither runs while nothing is watched.
 *
 * A job is read when there is memory for its message: unread messages are limited per account and
 * per node, and a message has the newest state when its turn comes. While the database is
 * unavailable, streams that have sent something stay open and continue afterwards; others end with
 * the error. Streams that are due at the same moment share the event loop, account by account.
 */
export class JobWatchers {
  readonly #db: Kysely<Tables>;
  readonly #node: NodeWatches;
  readonly #reads: Record<keyof typeof readAtOnce, Batches<string, StoredJob | undefined>>;
  /**
   * Reads in progress, keyed by the known state of the job. All watchers of the job share the
   * result.
   */
  readonly #reading = new Map<string, Promise<StoredJob | undefined>>();
  readonly #jobs = new Map<string, WatchedJob>();
  /** The jobs with watchers that have not received anything yet. */
  readonly #unseen = new Set<WatchedJob>();
  #isLooking = false;
  #wake = (): void => {};

  constructor(db: Kysely<Tables>, node: NodeWatches) {
    this.#db = db;
    this.#node = node;
    const batches = (itemsMax: number): Batches<string, StoredJob | undefined> =>
      new Batches((ids) => findJobs(db, ids), {
        itemsMax,
        isSharedFailure: (error) => databaseTrouble(error) !== undefined,
      });
    this.#reads = { short: batches(readAtOnce.short), long: batches(readAtOnce.long) };
    const { stopping } = node;
    stopping.addEventListener("abort", () => {
      for (const { watchers } of this.#jobs.values()) {
        for (const watcher of watchers) watcher.end(stopping.reason);
      }
    });
  }

  /**
   * Yields the job immediately, then after each change of state or progress (only the newest of
   * several), and ends when the job does. A message counts as unread until the next one is
   * requested. Throws not_found if the account has no such job, and resource_exhausted if the
   * account watches too many jobs or has too many unread bytes.
   */
  async *watch(
    accountId: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<StoredJob, void, undefined> {
    signal.throwIfAborted();
    const { room, turns, stopping } = this.#node;
    stopping.throwIfAborted();
    using _place = this.#node.enter(accountId);
    const watcher = new Watcher(accountId);
    const leave = this.#enter(id, watcher);
    const onAbort = (): void => watcher.end(signal.reason);
    signal.addEventListener("abort", onAbort);
    let sent: StoredJob | undefined;
    try {
      for (;;) {
        const { metadataBytes } = await watcher.seen();
        const msMax = sent ? roomMsMax.later : roomMsMax.first;
        using _held = await room.take(accountId, copies * metadataBytes, { msMax, signal });
        const { job, isRepeat } = await watcher.next((seen) => this.#read(seen));
        if (sent && isSame(sent, job) && !isRepeat) continue;
        sent = job;
        await turns.next(accountId);
        yield job;
        if (hasEnded(job.state)) return;
      }
    } catch (error) {
      // A thousand streams may be refused at the same moment.
      if (!signal.aborted) await turns.next(accountId);
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      leave();
    }
  }

  #enter(id: string, watcher: Watcher): () => void {
    const watched = this.#jobs.get(id) ?? newlyWatched(id);
    this.#jobs.set(id, watched);
    watched.watchers.add(watcher);
    watched.unseen.add(watcher);
    this.#unseen.add(watched);
    this.#wake();
    if (!this.#isLooking) void this.#run();
    return () => {
      watched.watchers.delete(watcher);
      watched.unseen.delete(watcher);
      if (watched.unseen.size === 0) this.#unseen.delete(watched);
      if (watched.watchers.size === 0) this.#jobs.delete(id);
      if (this.#jobs.size === 0) this.#wake();
    };
  }

  async #read(seen: SeenJob): Promise<StoredJob> {
    const { id, state, progressPercent, metadataBytes } = seen;
    const reads = this.#reads[metadataBytes <= shortBytesMax ? "short" : "long"];
    const key = `${id} ${state} ${progressPercent}`;
    const reading = this.#reading.get(key) ?? reads.add(id);
    this.#reading.set(key, reading);
    try {
      const job = await reading;
      if (!job) throw jobNotFound(`transcriptjob/${id}`);
      return job;
    } finally {
      this.#reading.delete(key);
    }
  }

  /** Polls the jobs while any are watched. */
  async #run(): Promise<void> {
    this.#isLooking = true;
    for (let lookAt = 0; this.#jobs.size > 0;) {
      await sleep(gatherMs);
      const now = performance.now();
      const isTurn = now >= lookAt;
      if (isTurn) lookAt = now + lookMs;
      const due = isTurn ? this.#jobs.values().filter((each) => !isOver(each)) : [];
      await this.#look(new Set([...this.#unseen, ...due]));
      if (this.#unseen.size === 0) await this.#pause(lookAt);
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

  async #look(jobs: ReadonlySet<WatchedJob>): Promise<void> {
    if (jobs.size === 0) return;
    const now = performance.now();
    const repeatFrom = now - this.#node.repeatMs;
    const isDue = ({ notifiedAt }: Watcher): boolean => notifiedAt <= repeatFrom;
    // A watcher that arrives while the statement runs is notified after the next one.
    const looked = Array.from(jobs, (watched) => ({ watched, watchers: [...watched.watchers] }));
    for (const watched of jobs) {
      watched.unseen.clear();
      this.#unseen.delete(watched);
    }
    try {
      // The stored times change more often than the sent messages: for repeated messages the
      // current state of the job is read.
      const known = looked.map(({ watched: { id, job }, watchers }) =>
        watchers.some(isDue) ? { id } : { id, ...job },
      );
      const found = await findChangedJobs(this.#db, known);
      let woken = 0;
      for (const { watched, watchers } of looked) {
        const isChanged = found.has(watched.id) && !isSame(watched.job, found.get(watched.id));
        if (found.has(watched.id)) watched.job = found.get(watched.id);
        for (const watcher of watchers) {
          const isRepeat = isDue(watcher);
          if (isChanged || isRepeat) watcher.take(watched.id, watched.job, { now, isRepeat });
        }
        woken += watchers.length;
        if (woken < wokenAtOnce) continue;
        woken = 0;
        await new Promise(setImmediate);
      }
    } catch (error) {
      const isUnavailable = databaseTrouble(error) !== undefined;
      for (const watcher of looked.flatMap(({ watchers }) => watchers)) {
        if (!isUnavailable || watcher.isNew) watcher.end(error);
      }
    }
  }
}

interface WatchedJob {
  readonly id: string;
  /** The last known state of the job. */
  job: SeenJob | undefined;
  readonly watchers: Set<Watcher>;
  /** The watchers that have not received anything yet. Their job is polled immediately. */
  readonly unseen: Set<Watcher>;
}

function newlyWatched(id: string): WatchedJob {
  return { id, job: undefined, watchers: new Set(), unseen: new Set() };
}

type Shown = Pick<StoredJob, "state" | "progressPercent">;

/** Returns whether nothing visible has changed. */
function isSame(before: Shown | undefined, now: Shown | undefined): boolean {
  if (!before || !now) return false;
  return before.state === now.state && before.progressPercent === now.progressPercent;
}

function isOver({ job }: WatchedJob): boolean {
  return job !== undefined && hasEnded(job.state);
}
