import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import type { Tables } from "../database/tables.ts";
import { Batches } from "../std/batches.ts";
import { HeldBytes } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { HeldRoom } from "./held-room.ts";
import { jobNotFound } from "./job-name.ts";
import { findChangedJobs, findJobs, type SeenJob } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** How often the jobs that are watched are looked at. */
const lookMs = 500;
/** Those who come within this time are answered together. */
const gatherMs = 10;
/** Without a change the same is told again after this: less than proxies take for the end of a stream (60 s). */
const repeatMsDefault = 30_000;

/** Jobs that are read at once, to be told: short ones, and those whose metadata is long, up to a megabyte each. */
const readAtOnce = { short: 1_000, long: 16 } as const;
const shortBytesMax = 8_192;
/** What is told is in memory twice: as it is written, and on its way. */
const copies = 2;
/** How long a message waits for others to be taken; one that opens a stream, as long as its status can still say so. */
const roomMsMax = { first: 400, later: 30_000 } as const;

/** What is told and not taken, where nothing else is said. */
const defaultHeld = {
  nodeBytesMax: 128 << 20,
  accountBytesMax: 64 << 20,
  reason: "WATCHES_FULL",
  what: "watched jobs",
};

/** Streams that one account may have open at a node, and all accounts together. */
export const watchesMax = { account: 1_000, node: 10_000 } as const;

/**
 * Tells how jobs change to those who watch them at this node, wherever their workers are: one statement looks at all of these jobs,
 * twice a second and when somebody comes, another reads those that have changed, and none runs while nobody watches. A job that is to be told is read when there is room for it:
 * what callers have not taken yet is counted by account and node, and is the newest when its turn comes. While the database is away, who
 * has been told something stays and is told more when it is back; who has not gets the error.
 */
export class JobWatchers {
  readonly #db: Kysely<Tables>;
  readonly #stopping: AbortSignal | undefined;
  readonly #repeatMs: number;
  readonly #room: HeldRoom;
  readonly #reads: Record<keyof typeof readAtOnce, Batches<string, StoredJob | undefined>>;
  /** Jobs that are being read, by what was seen of them: all who watch them share what is read. */
  readonly #reading = new Map<string, Promise<StoredJob | undefined>>();
  readonly #jobs = new Map<string, WatchedJob>();
  #turns = Promise.resolve();
  readonly #counts = new Map<string, number>();
  #count = 0;
  #isLooking = false;
  #wake = (): void => {};

  /** `stopping` ends what is watched by then, and what comes later, with its reason. */
  constructor(
    db: Kysely<Tables>,
    options: {
      readonly stopping?: AbortSignal | undefined;
      readonly repeatMs?: number;
      readonly held?: HeldBytes | undefined;
    } = {},
  ) {
    const { stopping, repeatMs = repeatMsDefault, held = new HeldBytes(defaultHeld) } = options;
    this.#db = db;
    this.#room = new HeldRoom(held);
    const batches = (itemsMax: number): Batches<string, StoredJob | undefined> =>
      new Batches((ids) => findJobs(db, ids), {
        itemsMax,
        isEverybodys: (error) => databaseTrouble(error) !== undefined,
      });
    this.#reads = { short: batches(readAtOnce.short), long: batches(readAtOnce.long) };
    this.#stopping = stopping;
    this.#repeatMs = repeatMs;
    stopping?.addEventListener("abort", () => {
      for (const { watchers } of this.#jobs.values()) {
        for (const watcher of watchers) watcher.end(stopping.reason);
      }
    });
  }

  /**
   * The job at once, then with each change of state or progress, the newest where several came; it ends with the job. What is told is
   * held until more is asked for. Throws not_found for what is no job of the account, resource_exhausted when it watches too many, or
   * has too much to take.
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
    let told: StoredJob | undefined;
    try {
      for (;;) {
        const { metadataBytes } = await watcher.seen();
        const msMax = told ? roomMsMax.later : roomMsMax.first;
        using _held = await this.#room.take(accountId, copies * metadataBytes, { msMax, signal });
        const { job, isRepeat } = await watcher.next((seen) => this.#read(seen));
        if (told && isSame(told, job) && !isRepeat) continue;
        told = job;
        if (metadataBytes > shortBytesMax) await this.#turn();
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

  /** Lets others have the thread between two long messages, of which a thousand may be due at once. */
  async #turn(): Promise<void> {
    const turn = this.#turns;
    this.#turns = turn.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    await turn;
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
          if (isChanged || isDue(watcher)) {
            watcher.take(watched, { now, isRepeat: isDue(watcher) });
          }
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
  job: SeenJob | undefined;
  readonly watchers: Set<Watcher>;
}

type Shown = Pick<StoredJob, "state" | "progressPercent">;

/** Whether there is nothing to tell. */
function isSame(before: Shown | undefined, now: Shown | undefined): boolean {
  if (!before || !now) return false;
  return before.state === now.state && before.progressPercent === now.progressPercent;
}

function hasNew({ watchers }: WatchedJob): boolean {
  return [...watchers].some(({ isNew }) => isNew);
}

function isOver({ job }: WatchedJob): boolean {
  return job !== undefined && job.state !== "PROCESSING";
}

/** One who watches a job: knows what was seen of it last, and has not been told yet. */
class Watcher {
  readonly accountId: string;
  #toldAt = -Infinity;
  #seen: { readonly job: SeenJob; readonly isRepeat: boolean } | undefined;
  #hasRead = false;
  #end: { readonly error: unknown } | undefined;
  #wake = (): void => {};

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  get toldAt(): number {
    return this.#toldAt;
  }

  /** Whether it is known of nothing yet. */
  get isNew(): boolean {
    return this.#toldAt === -Infinity && this.#end === undefined;
  }

  take({ id, job }: WatchedJob, { now, isRepeat }: { now: number; isRepeat: boolean }): void {
    if (job?.accountId !== this.accountId) return this.end(jobNotFound(`transcriptjob/${id}`));
    this.#toldAt = now;
    this.#seen = { job, isRepeat: isRepeat || (this.#seen?.isRepeat ?? false) };
    this.#wake();
  }

  /** What was seen before is told before. */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Resolves when there is something to be told. */
  async seen(): Promise<SeenJob> {
    for (;;) {
      if (this.#seen) return this.#seen.job;
      if (this.#end) throw this.#end.error;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Reads what was seen last. Who has been told something waits for a database that is away. */
  async next(
    read: (seen: SeenJob) => Promise<StoredJob>,
  ): Promise<{ readonly job: StoredJob; readonly isRepeat: boolean }> {
    for (;;) {
      await this.seen();
      const seen = this.#seen;
      this.#seen = undefined;
      if (!seen) continue;
      try {
        const job = await read(seen.job);
        this.#hasRead = true;
        return { job, isRepeat: seen.isRepeat };
      } catch (error) {
        if (!this.#hasRead || databaseTrouble(error) === undefined) throw error;
        this.#seen ??= seen;
        if (this.#end) throw this.#end.error;
        await sleep(lookMs);
      }
    }
  }
}

function watchesFull(problem: string): ServiceError {
  return new ServiceError("resource_exhausted", problem, { reason: "WATCHES_FULL" });
}
