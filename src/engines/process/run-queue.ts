import type { RecognitionMode } from "../protocol/engine.ts";

/** Work that is done in slices. */
export interface Task {
  /** Does one slice; false when there is nothing more to do until it is woken. */
  step(): boolean;
  /** Time that its slices have taken; the queue adds to it. */
  busyMs: number;
  /** The rank of its next slice, where that is not the one it was woken at. */
  rank?(): RecognitionMode;
}

/** How long live work waited for its turn after it came. */
export interface LiveWaits {
  readonly count: number;
  readonly totalMs: number;
}

/** Who goes first: nobody waits for live words behind somebody's recording. */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];
/** Work done before the process looks at its pipe again. */
const turnMs = 10;
/**
 * A mode that others keep from its turn gets this share of the time all the same, and waits at
 * least so long for it.
 */
const starvedShare = 0.05;
const starvedMsMin = 200;
/** In place of the time of waking: a task that goes on by itself has waited for nobody. */
const goesOn = Number.NaN;

interface Rank {
  readonly mode: RecognitionMode;
  /** Tasks with something to do, in the order of their turns, each with the time it was woken. */
  readonly waiting: Map<Task, number>;
  /** It has its turn from now on, whoever else waits. */
  dueAt: number;
}

/**
 * Lets tasks take turns, a slice each: live before short before job, and in order of waking within
 * one mode. No mode is kept from its turn altogether.
 */
export class RunQueue {
  readonly #ranks: readonly Rank[] = modesByRank.map((mode) => ({
    mode,
    waiting: new Map(),
    dueAt: 0,
  }));
  #isTurnDue = false;
  #liveWaits = { count: 0, totalMs: 0 };

  /** There is something to do for this task. */
  wake(mode: RecognitionMode, task: Task): void {
    const rank = this.#rank(task.rank?.() ?? mode);
    if (this.#ranks.some(({ waiting }) => waiting.has(task))) return;
    const now = performance.now();
    if (rank.waiting.size === 0) rank.dueAt = Math.max(rank.dueAt, now + starvedMsMin);
    rank.waiting.set(task, now);
    this.#planTurn();
  }

  /** The task is over. */
  remove(task: Task): void {
    for (const { waiting } of this.#ranks) waiting.delete(task);
  }

  /** The waits since this was last asked. */
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

  #planTurn(): void {
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
      this.#planTurn();
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
    // Removed and added again: a map keeps the order, so everybody else's turn comes first.
    rank.waiting.delete(task);
    const hasMore = task.step();
    const end = performance.now();
    task.busyMs += end - now;
    if (hasMore) this.#rank(task.rank?.() ?? rank.mode).waiting.set(task, goesOn);
    rank.dueAt = end + Math.max(starvedMsMin, (end - now) / starvedShare);
    return end;
  }
}
