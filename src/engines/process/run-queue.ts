import type { RecognitionMode } from "../protocol/engine.ts";

/** Work that is done in slices. */
export interface Task {
  /** Does one slice. Returns false if there is nothing more to do until the task is woken. */
  step(): boolean;
  /** The total time of the task's slices, which the queue updates. */
  busyMs: number;
  /** Returns the rank of the task's next slice, if it differs from the mode passed to wake(). */
  rank?(): RecognitionMode;
}

/** How long live work waited for its turn. */
export interface LiveWaits {
  readonly count: number;
  readonly totalMs: number;
}

/** The modes by scheduling priority, highest first. */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];
/** The working time between two reads from the process's pipe. */
const turnMs = 10;
/**
 * The minimum share of the time for a mode, even if modes with higher priority always have work.
 */
const starvedShare = 0.05;
/** The minimum wait of a mode before it gets such a turn. */
const starvedMsMin = 200;
/** The wake time of a task between two of its slices, which does not count as waiting. */
const continues = Number.NaN;

interface Rank {
  readonly mode: RecognitionMode;
  /**
   * The tasks with work, in the order of their turns, each with the time at which it was woken.
   */
  readonly waiting: Map<Task, number>;
  /** The time from which this mode is next, regardless of other waiting tasks. */
  dueAt: number;
}

/**
 * Lets tasks take turns, one slice each: live before short before job, and in order of waking
 * within a mode. No mode starves.
 */
export class RunQueue {
  readonly #ranks: readonly Rank[] = modesByRank.map((mode) => ({
    mode,
    waiting: new Map(),
    dueAt: 0,
  }));
  #isTurnDue = false;
  #liveWaits = { count: 0, totalMs: 0 };

  /** Called when the task has work. */
  wake(mode: RecognitionMode, task: Task): void {
    const rank = this.#rank(task.rank?.() ?? mode);
    if (this.#ranks.some(({ waiting }) => waiting.has(task))) return;
    const now = performance.now();
    if (rank.waiting.size === 0) rank.dueAt = Math.max(rank.dueAt, now + starvedMsMin);
    rank.waiting.set(task, now);
    this.#scheduleTurn();
  }

  /** Called when the task has ended. */
  remove(task: Task): void {
    for (const { waiting } of this.#ranks) waiting.delete(task);
  }

  /** Returns the waits since the last call. */
  takeLiveWaits(): LiveWaits {
    const waits = this.#liveWaits;
    this.#liveWaits = { count: 0, totalMs: 0 };
    return waits;
  }

  #rank(mode: RecognitionMode): Rank {
    const rank = this.#ranks.find((each) => each.mode === mode);
    if (!rank) throw new Error(`there is no mode ${mode}`);
    return rank;
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      const start = performance.now();
      for (let now = start; now < start + turnMs;) {
        const rank = this.#next(now);
        if (!rank) return;
        now = this.#run(rank, now);
      }
      this.#scheduleTurn();
    });
  }

  #next(now: number): Rank | undefined {
    let first: Rank | undefined;
    for (const rank of this.#ranks) {
      if (rank.waiting.size === 0) continue;
      if (first && rank.dueAt <= now) return rank;
      first ??= rank;
    }
    return first;
  }

  /** Runs one slice of the first task of this rank. Returns the time after the slice. */
  #run(rank: Rank, now: number): number {
    const [first] = rank.waiting;
    if (!first) return now;
    const [task, wokenAt] = first;
    if (rank.mode === "live" && !Number.isNaN(wokenAt)) {
      this.#liveWaits.count += 1;
      this.#liveWaits.totalMs += now - wokenAt;
    }
    // The task is removed, and added again below: a map keeps insertion order, so the task is then
    // last.
    rank.waiting.delete(task);
    const hasMore = task.step();
    const end = performance.now();
    task.busyMs += end - now;
    if (hasMore) this.#rank(task.rank?.() ?? rank.mode).waiting.set(task, continues);
    rank.dueAt = end + Math.max(starvedMsMin, (end - now) / starvedShare);
    return end;
  }
}
