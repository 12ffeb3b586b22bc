import { setTimeout as delay } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import { Working, type Phase } from "./working.ts";

export interface CrewOptions {
  readonly workers: number;
  /** The time that a worker takes for a piece. */
  readonly pieceMs: number;
  /**
   * A worker is not killed if one of its jobs has already had this many kills, since the job would
   * rightly end as ERROR after one more.
   */
  readonly deathsMax: number;
  /** If no worker reaches the wanted phase within this time, a worker in any phase is killed. */
  readonly waitMsMax: number;
  /** A worker that has reached the phase is killed within this time. */
  readonly lateMsMax: number;
  readonly chance: Chance;
}

/**
 * Workers on one data folder that are killed one after another. Each killed worker is immediately
 * replaced.
 */
export class Crew implements AsyncDisposable {
  /** The number of kills in each phase. */
  readonly killed: Record<Phase, number> = { fetching: 0, fetched: 0, recognizing: 0, ended: 0 };
  readonly #dataFolder: string;
  readonly #options: CrewOptions;
  /** All workers ever started. */
  readonly #all: Working[] = [];
  /** The workers that are running. */
  readonly #up = new Set<Working>();
  readonly #starting = new Set<Promise<void>>();
  /** The reason why a worker could not be started. */
  #failure: unknown;

  constructor(dataFolder: string, options: CrewOptions) {
    this.#dataFolder = dataFolder;
    this.#options = options;
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.workers }, () => this.#add()));
  }

  /**
   * Kills a worker in a phase, or soon after it, if its jobs can survive the kill. `feed` is called
   * while waiting for such a worker.
   */
  async kill(phase: Phase, feed: () => Promise<void>): Promise<void> {
    const { chance, waitMsMax, lateMsMax } = this.#options;
    let giveUpAt = performance.now() + waitMsMax;
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      await feed();
      const mortal = [...this.#up].filter((each) => !this.#isSpared(each));
      const busy = mortal.filter((each) => each.attempts.size > 0);
      const wanted = busy.filter((each) => each.phase === phase);
      // A worker that has just started gets the same time to reach the phase.
      if (mortal.length === 0) giveUpAt = performance.now() + waitMsMax;
      const late = busy.length > 0 ? busy : mortal;
      const choice = performance.now() > giveUpAt ? late : wanted;
      if (choice.length === 0) {
        await delay(5);
        continue;
      }
      const victim = chance.oneOf(choice);
      await delay(chance.below(lateMsMax));
      if (this.#isSpared(victim)) continue;
      this.#up.delete(victim);
      await victim.kill();
      this.killed[victim.phase] += 1;
      this.#add().catch((error: unknown) => {
        this.#failure ??= error;
      });
      return;
    }
  }

  /** Returns the number of jobs that any worker has begun. */
  begunCount(): number {
    return this.#all.reduce((ids, { begun }) => ids.union(begun), new Set()).size;
  }

  #isSpared(worker: Working): boolean {
    return [...worker.attempts.values()].some((attempts) => attempts > this.#options.deathsMax);
  }

  /** Lets all workers hand over their jobs and end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#starting);
    const up = [...this.#up];
    this.#up.clear();
    await Promise.all(up.map((each) => each[Symbol.asyncDispose]()));
  }

  #add(): Promise<void> {
    const started = (async () => {
      const { pieceMs } = this.#options;
      const working = await Working.start(this.#dataFolder, { pieceMs });
      this.#all.push(working);
      this.#up.add(working);
    })().finally(() => this.#starting.delete(started));
    this.#starting.add(started);
    return started;
  }
}
