/** A job that a worker has leased. */
export interface RunningJob {
  /** Ids of jobs sort by age. */
  readonly id: string;
  readonly accountId: string;
  /** Whether its media is kept: a job that is released before that has to fetch it again. */
  readonly hasMedia: boolean;
  /**
   * Whether its recording is a single piece: it uses little memory and ends soon. undefined: not
   * known yet.
   */
  readonly isSmall: boolean | undefined;
  /** Whether a piece of it has had an engine on this worker. */
  readonly hasBegun: boolean;
  /** Whether it has been asked to leave. */
  readonly isLeaving: boolean;
  /** Asks it to leave at its next checkpoint. */
  leave(): void;
}

/**
 * In addition to the jobs that keep a worker busy, it leases this many of accounts that have none
 * on it, so that a job begins immediately, however many another account has running. Each costs a
 * decoder, which is idle most of the time.
 */
const otherAccounts = 8;
/**
 * Up to this many small jobs take no place: while they wait for engines and commits, the next ones
 * begin.
 */
const smallJobs = 32;
/**
 * After this many small jobs in a row the next ones are expected to be small, too, and are leased
 * many at once.
 */
const smallStreak = 8;
const smallAtOnce = 12;

/**
 * The jobs of a worker, and which accounts it leases from next. If all places are taken, an account
 * that has at least two jobs fewer here than another one still gets a place: the other's youngest
 * job leaves, whose pieces come last. Each such change makes the accounts more equal, so that the
 * changes end.
 */
export class RunningJobs {
  readonly #anyoneMax: number;
  readonly #jobs = new Set<RunningJob>();
  #alone: RunningJob | undefined;
  /** Small jobs in a row. */
  #streak = 0;
  #change = Promise.withResolvers<void>();

  /** `anyoneMax`: jobs that are leased by their turn only. */
  constructor(anyoneMax: number) {
    this.#anyoneMax = anyoneMax;
  }

  ids(): readonly string[] {
    return Array.from(this.#jobs, ({ id }) => id);
  }

  /** Accounts that may get no further job now; undefined: no account may. */
  passedOver(): readonly string[] | undefined {
    if (this.#alone) return undefined;
    if (this.room() > 0) return [];
    // Soon there is room to lease many in one statement, which is cheaper.
    if (this.#expectsSmall()) return undefined;
    const counts = this.#counts();
    if (this.#taken() < this.#anyoneMax + otherAccounts) return [...counts.keys()];
    const most = Math.max(...counts.values());
    const isOneLeaving = this.#jobs.values().some(({ isLeaving }) => isLeaving);
    if (isOneLeaving || most < 2) return undefined;
    return [...counts].filter(([, count]) => count > most - 2).map(([accountId]) => accountId);
  }

  /** How many jobs may be leased by their turn only now. */
  room(): number {
    if (this.#alone) return 0;
    const places = Math.max(0, this.#anyoneMax - this.#taken());
    if (!this.#expectsSmall()) return places;
    const atOnce = Math.min(smallJobs - this.#small(), smallAtOnce);
    return atOnce === smallAtOnce ? atOnce : 0;
  }

  /** How many of the free engines no job on this worker is going to use. */
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

  /** Adds a leased job; another one leaves for it if all places are taken. */
  add(job: RunningJob): void {
    this.#jobs.add(job);
    if (this.#taken() > this.#anyoneMax + otherAccounts) this.#youngestOfMost(job)?.leave();
  }

  /**
   * Makes all other jobs leave, and waits for them. No job may be leased until this one shares
   * again, or is removed.
   */
  async isolate(job: RunningJob): Promise<void> {
    this.#alone = job;
    for (const other of this.#jobs) if (other !== job) other.leave();
    while (this.#jobs.size > 1) await this.#change.promise;
  }

  /** Makes jobs leave, by their ids. */
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
   * Resolves when other jobs may be leased than before, or the time is over: then the jobs of
   * unknown size are no longer expected to be small.
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

  /** Jobs of each account that are not leaving. */
  #counts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { isLeaving, accountId } of this.#jobs) {
      if (!isLeaving) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    }
    return counts;
  }

  /** The youngest job of the account with the most; one whose media is kept, if there is one. */
  #youngestOfMost(added: RunningJob): RunningJob | undefined {
    const counts = this.#counts();
    const most = Math.max(...counts.values());
    const [youngest] = [...this.#jobs]
      .filter((job) => job !== added && !job.isLeaving && counts.get(job.accountId) === most)
      .toSorted((a, b) => Number(b.hasMedia) - Number(a.hasMedia) || (a.id < b.id ? 1 : -1));
    return youngest;
  }
}
