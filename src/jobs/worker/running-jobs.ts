/** A job that a worker has leased. */
export interface RunningJob {
  /** Ids of jobs sort by age. */
  readonly id: string;
  readonly accountId: string;
  /** Whether its media is kept: given back before that, it fetches again. */
  readonly hasMedia: boolean;
  /**
   * Whether its recording is a single piece: it holds little, and ends soon. undefined: nobody
   * knows yet.
   */
  readonly isSmall: boolean | undefined;
  /** Whether a piece of it has come to an engine here. */
  readonly hasBegun: boolean;
  /** Whether it has been asked to go. */
  readonly isLeaving: boolean;
  /** Asks it to go at its next checkpoint. */
  leave(): void;
}

/**
 * Beyond the jobs that keep a worker busy, it takes so many of accounts that have none with it:
 * then a job begins at once, however many another account has running. They cost a decoder each,
 * which waits most of the time.
 */
const otherAccounts = 8;
/**
 * So many small jobs take no place: while they wait for engines and commits, the next ones begin.
 */
const smallJobs = 32;
/** After so many small jobs in a row the next ones are taken for small too, so many at once. */
const smallStreak = 8;
const smallAtOnce = 12;

/**
 * The jobs of a worker, and whose it takes next. Where everything is taken, an account that has two
 * jobs less here than another one still gets a place: the other's youngest job goes, which pieces
 * come to last. Each such change makes the accounts more equal, so that they come to an end.
 */
export class RunningJobs {
  readonly #anyoneMax: number;
  readonly #jobs = new Set<RunningJob>();
  #alone: RunningJob | undefined;
  /** Small jobs in a row. */
  #streak = 0;
  #change = Promise.withResolvers<void>();

  /** `anyoneMax`: jobs that are taken by their turn alone. */
  constructor(anyoneMax: number) {
    this.#anyoneMax = anyoneMax;
  }

  /** Accounts that get no further job now; undefined: none gets one. */
  passedOver(): readonly string[] | undefined {
    if (this.#alone) return undefined;
    if (this.room() > 0) return [];
    // Soon there is room for many at once, which cost less together.
    if (this.#expectsSmall()) return undefined;
    const counts = this.#counts();
    if (this.#taken() < this.#anyoneMax + otherAccounts) return [...counts.keys()];
    const most = Math.max(...counts.values());
    const isOneLeaving = this.#jobs.values().some(({ isLeaving }) => isLeaving);
    if (isOneLeaving || most < 2) return undefined;
    return [...counts].filter(([, count]) => count > most - 2).map(([accountId]) => accountId);
  }

  /** How many jobs are taken by their turn alone now. */
  room(): number {
    if (this.#alone) return 0;
    const places = Math.max(0, this.#anyoneMax - this.#taken());
    if (!this.#expectsSmall()) return places;
    const atOnce = Math.min(smallJobs - this.#small(), smallAtOnce);
    return atOnce === smallAtOnce ? atOnce : 0;
  }

  /** Of so many free engines, those that no job here is going to begin on. */
  spare(enginesFree: number): number {
    const preparing = [...this.#jobs].filter(({ hasBegun, isLeaving }) => !hasBegun && !isLeaving);
    return Math.max(0, enginesFree - preparing.length);
  }

  /**
   * To be told once the size of a job is known. One that was taken for small in vain goes where
   * there is no place for it.
   */
  sized(job: RunningJob): void {
    this.#streak = job.isSmall === true ? this.#streak + 1 : 0;
    const staying = this.#jobs.values().filter((each) => !each.isSmall && !each.isLeaving);
    if (!job.isSmall && [...staying].length > this.#anyoneMax + otherAccounts) job.leave();
    this.wake();
  }

  /** Adds a job that was leased; another one leaves for it where all places are taken. */
  add(job: RunningJob): void {
    this.#jobs.add(job);
    if (this.#taken() > this.#anyoneMax + otherAccounts) this.#youngestOfMost(job)?.leave();
  }

  /** Has all others leave. No job is taken until it shares again, or is removed. */
  async isolate(job: RunningJob): Promise<void> {
    this.#alone = job;
    for (const other of this.#jobs) if (other !== job) other.leave();
    while (this.#jobs.size > 1) await this.#change.promise;
  }

  /** Has jobs go back to the queue, by their ids. */
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
   * Resolves when other jobs may be taken than before, or the time is over: then those that were
   * taken for small are not that.
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

  /** Places that are taken. */
  #taken(): number {
    return this.#jobs.size - Math.min(this.#small(), smallJobs);
  }

  /** Jobs of each account that do not leave. */
  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { isLeaving, accountId } of this.#jobs) {
      if (!isLeaving) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    }
    return counts;
  }

  /** One whose media is kept, if there is one. */
  #youngestOfMost(added: RunningJob): RunningJob | undefined {
    const counts = this.#counts();
    const most = Math.max(...counts.values());
    const [youngest] = [...this.#jobs]
      .filter((job) => job !== added && !job.isLeaving && counts.get(job.accountId) === most)
      .toSorted((a, b) => Number(b.hasMedia) - Number(a.hasMedia) || (a.id < b.id ? 1 : -1));
    return youngest;
  }
}
