/** A job that a worker has leased. */
export interface RunningJob {
  /** The id of the job. Job ids sort by age. */
  readonly id: string;
  readonly accountId: string;
  /**
   * Whether the job's media is kept. A job that is released before then has to fetch the media
   * again.
   */
  readonly hasMedia: boolean;
  /**
   * Whether the job's recording is a single piece, so that it uses little memory and ends soon;
   * undefined if this is not known yet.
   */
  readonly isSmall: boolean | undefined;
  /** Whether a piece of the job has had an engine on this worker. */
  readonly hasBegun: boolean;
  /** Whether the job has been asked to leave. */
  readonly isLeaving: boolean;
  /** Asks the job to leave at its next checkpoint. */
  leave(): void;
}

/**
 * The number of places for jobs of accounts that have no jobs on this worker, in addition to the
 * jobs that keep it busy. A job of such an account begins immediately, regardless of how many jobs
 * another account has running. Each place costs a decoder, which is idle most of the time.
 */
const otherAccounts = 8;
/**
 * The maximum number of small jobs that occupy no place: while they wait for engines and commits,
 * the next jobs begin.
 */
const smallJobs = 32;
/**
 * The number of small jobs in a row after which the next ones are also expected to be small, and
 * many are leased at once.
 */
const smallStreak = 8;
const smallAtOnce = 12;

/**
 * The jobs of a worker, and the choice of accounts to lease from next. If all places are taken, an
 * account that has at least two jobs fewer here than another one still gets a place: the youngest
 * job of the other account leaves, since its pieces come last. Each such change makes the accounts
 * more equal, so the changes come to an end.
 */
export class RunningJobs {
  readonly #anyoneMax: number;
  readonly #jobs = new Set<RunningJob>();
  #alone: RunningJob | undefined;
  /** The number of small jobs in a row. */
  #streak = 0;
  #change = Promise.withResolvers<void>();

  /** `anyoneMax` is the maximum number of jobs that are leased only by their turn. */
  constructor(anyoneMax: number) {
    this.#anyoneMax = anyoneMax;
  }

  ids(): readonly string[] {
    return Array.from(this.#jobs, ({ id }) => id);
  }

  /**
   * Returns the accounts that may get no further job now; undefined if this applies to all
   * accounts.
   */
  passedOver(): readonly string[] | undefined {
    if (this.#alone) return undefined;
    if (this.room() > 0) return [];
    // There will soon be room to lease many jobs in one statement, which is cheaper.
    if (this.#expectsSmall()) return undefined;
    const counts = this.#counts();
    if (this.#taken() < this.#anyoneMax + otherAccounts) return [...counts.keys()];
    const most = Math.max(...counts.values());
    const isOneLeaving = this.#jobs.values().some(({ isLeaving }) => isLeaving);
    if (isOneLeaving || most < 2) return undefined;
    return [...counts].filter(([, count]) => count > most - 2).map(([accountId]) => accountId);
  }

  /** Returns the number of jobs that may be leased now only by their turn. */
  room(): number {
    if (this.#alone) return 0;
    const places = Math.max(0, this.#anyoneMax - this.#taken());
    if (!this.#expectsSmall()) return places;
    const atOnce = Math.min(smallJobs - this.#small(), smallAtOnce);
    return atOnce === smallAtOnce ? atOnce : 0;
  }

  /** Returns the number of free engines that no job on this worker is going to use. */
  spare(enginesFree: number): number {
    const preparing = [...this.#jobs].filter(({ hasBegun, isLeaving }) => !hasBegun && !isLeaving);
    return Math.max(0, enginesFree - preparing.length);
  }

  /**
   * Called once the size of a job is known. A job that turns out to be long leaves if there is no
   * place for it.
   */
  sized(job: RunningJob): void {
    this.#streak = job.isSmall === true ? this.#streak + 1 : 0;
    const staying = this.#jobs.values().filter((each) => !each.isSmall && !each.isLeaving);
    if (!job.isSmall && [...staying].length > this.#anyoneMax + otherAccounts) job.leave();
    this.wake();
  }

  /** Adds a leased job. If all places are taken, another job leaves. */
  add(job: RunningJob): void {
    this.#jobs.add(job);
    if (this.#taken() > this.#anyoneMax + otherAccounts) this.#youngestOfMost(job)?.leave();
  }

  /**
   * Makes all other jobs leave, and waits until they have. No job may be leased until this job
   * shares the worker again or is removed.
   */
  async isolate(job: RunningJob): Promise<void> {
    this.#alone = job;
    for (const other of this.#jobs) if (other !== job) other.leave();
    while (this.#jobs.size > 1) await this.#change.promise;
  }

  /** Makes the jobs with these ids leave. */
  release(jobIds: readonly string[]): void {
    for (const job of this.#jobs) if (jobIds.includes(job.id)) job.leave();
  }

  isAlone(job: RunningJob): boolean {
    return this.#alone === job;
  }

  share(job: RunningJob): void {
    if (!this.isAlone(job)) return;
    this.#alone = undefined;
    this.wake();
  }

  remove(job: RunningJob): void {
    this.#jobs.delete(job);
    this.share(job);
    this.wake();
  }

  /**
   * Resolves when different jobs may be leased than before, or after msMax. In the latter case,
   * jobs of unknown size are no longer expected to be small.
   */
  async change(msMax: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#streak = 0;
      this.wake();
    }, msMax);
    await this.#change.promise;
    clearTimeout(timer);
  }

  /** Ends the wait for a change. */
  wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  #expectsSmall(): boolean {
    return this.#streak >= smallStreak;
  }

  #small(): number {
    const isSmall = this.#expectsSmall();
    return [...this.#jobs].filter((job) => job.isSmall ?? isSmall).length;
  }

  /** Returns the number of places that are taken. */
  #taken(): number {
    return this.#jobs.size - Math.min(this.#small(), smallJobs);
  }

  /** Returns the number of jobs of each account that are not leaving. */
  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { isLeaving, accountId } of this.#jobs) {
      if (!isLeaving) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Returns the youngest job of the account with the most jobs; if possible, a job with media that
   * is kept.
   */
  #youngestOfMost(added: RunningJob): RunningJob | undefined {
    const counts = this.#counts();
    const most = Math.max(...counts.values());
    const [youngest] = [...this.#jobs]
      .filter((job) => job !== added && !job.isLeaving && counts.get(job.accountId) === most)
      .toSorted((a, b) => Number(b.hasMedia) - Number(a.hasMedia) || (a.id < b.id ? 1 : -1));
    return youngest;
  }
}
