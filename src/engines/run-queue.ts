import type { RecognitionMode } from "./engine.ts";

/** Work that is done in slices. */
export interface Task {
  /** Does one slice; false when there is nothing more to do until it is woken. */
  step(): boolean;
}

/** Who goes first: nobody waits for live words behind somebody's recording. */
const modesByRank: readonly RecognitionMode[] = ["live", "short", "job"];
/** Work done before the process looks at its pipe again. */
const turnMs = 10;

/** Lets tasks take turns, a slice each: live before short before job, and in order of waking within one mode. */
export class RunQueue {
  readonly #waiting = new Map<RecognitionMode, Set<Task>>(
    modesByRank.map((mode) => [mode, new Set()]),
  );
  #isTurnDue = false;

  /** There is something to do for this task. */
  wake(mode: RecognitionMode, task: Task): void {
    this.#waiting.get(mode)?.add(task);
    this.#planTurn();
  }

  /** The task is over. */
  remove(mode: RecognitionMode, task: Task): void {
    this.#waiting.get(mode)?.delete(task);
  }

  #planTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      const endsAt = performance.now() + turnMs;
      do {
        if (!this.#runOne()) return;
      } while (performance.now() < endsAt);
      this.#planTurn();
    });
  }

  #runOne(): boolean {
    for (const mode of modesByRank) {
      const waiting = this.#waiting.get(mode) ?? new Set();
      const [task] = waiting;
      if (!task) continue;
      // Removed and added again: a set keeps the order, so everybody else's turn comes first.
      waiting.delete(task);
      if (task.step()) waiting.add(task);
      return true;
    }
    return false;
  }
}
