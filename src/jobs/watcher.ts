import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../database/database-trouble.ts";
import { jobNotFound } from "./job-name.ts";
import type { SeenJob } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** The wait before a read is retried that failed because the database is unavailable. */
const retryMs = 500;

/** One stream that watches a job: stores the last seen state that has not been sent yet. */
export class Watcher {
  readonly accountId: string;
  #notifiedAt = -Infinity;
  #seen: { readonly job: SeenJob; readonly isRepeat: boolean } | undefined;
  #hasRead = false;
  #end: { readonly error: unknown } | undefined;
  #wake = (): void => {};

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  get notifiedAt(): number {
    return this.#notifiedAt;
  }

  /** Whether the watcher has not received anything yet, not even an end. */
  get isNew(): boolean {
    return this.#notifiedAt === -Infinity && this.#end === undefined;
  }

  /** Receives the state of the job; `job` is undefined if there is none with this id. */
  take(
    id: string,
    job: SeenJob | undefined,
    { now, isRepeat }: { readonly now: number; readonly isRepeat: boolean },
  ): void {
    if (job?.accountId !== this.accountId) return this.end(jobNotFound(`transcriptjob/${id}`));
    this.#notifiedAt = now;
    this.#seen = { job, isRepeat: isRepeat || (this.#seen?.isRepeat ?? false) };
    this.#wake();
  }

  /** Ends the stream after any state that was seen before. */
  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Resolves when there is something to send. */
  async seen(): Promise<SeenJob> {
    for (;;) {
      if (this.#seen) return this.#seen.job;
      if (this.#end) throw this.#end.error;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /**
   * Reads the job that was seen last. If the database is unavailable, a stream that has sent
   * something waits for it.
   */
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
        await sleep(retryMs);
      }
    }
  }
}
