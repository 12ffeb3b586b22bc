import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../database/database-trouble.ts";
import { jobNotFound } from "./job-name.ts";
import type { SeenJob } from "./job-store.ts";
import type { StoredJob } from "./stored-job.ts";

/** A read that fails because the database is away is tried again after this. */
const retryMs = 500;

/** One stream that watches a job: keeps what was seen of the job last and is not sent yet. */
export class Watcher {
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

  /** Whether nothing was told yet, not even an end. */
  get isNew(): boolean {
    return this.#toldAt === -Infinity && this.#end === undefined;
  }

  /** `job` is undefined where there is none of this id. */
  take(
    id: string,
    job: SeenJob | undefined,
    { now, isRepeat }: { readonly now: number; readonly isRepeat: boolean },
  ): void {
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
        await sleep(retryMs);
      }
    }
  }
}
