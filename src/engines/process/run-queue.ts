import type { RecognitionMode } from "../protocol/engine.ts";

/** Work that is done in slices. */
export interface Task {
  /** Does one slice; false when there is nothing more to do until it is woken. */
  step(): boolean;
  /** Time of its slices; the queue adds to it. */
  busyMs: number;
  /** The rank of its next slice, if that is not the mode of wake(). */
  rank?(): RecognitionMode;
}

/** How long live work waited for its turn. */
export interface LiveWaits {
  readonly count: number;
  readonly totalMs: number;
}

/** Scheduling priority: live sessions before short ones, short ones before jobs. */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];
/** Time of work between two reads of the process's pipe. */
const turnMs = 10;
/** A mode gets this share of the time even if modes before it always have work. */
const starvedShare = 0.05;
/** A mode waits at least this long before it gets such a turn. */
const starvedMsMin = 200;
/**
 * Stands for the time of waking of a task between two of its slices, which does not count as
 * waiting.
 */
const continues = Number.NaN;

interface Rank {
  readonly mode: RecognitionMode;
  /** Tasks with something to do, in the order of their turns, each with the time it was woken. */
  readonly waiting: Map<Task, number>;
  /** From this time on, this mode is next, whatever else waits. */
  dueAt: number;
}

/**
 * Lets tasks take turns, a slice each: live before short before job, and in order of waking within
 * one mode. No mode starves.
 */
export class RunQueue {
  readonly #ranks: readonly Rank[] = modesByRank.map((mode) => ({
    mode,
    waiting: new Map(),
    dueAt: 0,
  }));
  #isTurnDue = false;
  #liveWaits = { count: 0, totalMs: 0 };

  /** To be called when the task has work. */
  wake(mode: RecognitionMode, task: Task): void {
    const rank = this.#rank(task.rank?.() ?? mode);
    if (this.#ranks.some(({ waiting }) => waiting.has(task))) return;
    const now = performance.now();
    if (rank.waiting.size === 0) rank.dueAt = Math.max(rank.dueAt, now + starvedMsMin);
    rank.waiting.set(task, now);
    this.#scheduleTurn();
  }

  /** To be called when the task has ended. */
  remove(task: Task): void {
    for (const { waiting } of this.#ranks) waiting.delete(task);
  }

  /** The waits since the last call. */
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

  /** Gives the first task of this rank its slice; returns the time after it. */
  #run(rank: Rank, now: number): number {
    const [first] = rank.waiting;
    if (!first) return now;
    const [task, wokenAt] = first;
    if (rank.mode === "live" && !Number.isNaN(wokenAt)) {
      this.#liveWaits.count += 1;
      this.#liveWaits.totalMs += now - wokenAt;
    }
    // Removed, and added again below: a map keeps insertion order, so it is last now.
    rank.waiting.delete(task);
    const hasMore = task.step();
    const end = performance.now();
    task.busyMs += end - now;
    if (hasMore) this.#rank(task.rank?.() ?? rank.mode).waiting.set(task, continues);
    rank.dueAt = end + Math.max(starvedMsMin, (end - now) / starvedShare);
    return end;
  }
}
