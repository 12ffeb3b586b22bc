import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "./database-trouble.ts";

const againAfterMs = 1_000;

/**
 * Runs an action on the database, and retries it while the database is unavailable. Throws other
 * errors, and the signal's reason.
 */
export async function retryWhileDatabaseDown<T>(
  signal: AbortSignal,
  action: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (!databaseTrouble(error)) throw error;
      await sleep(againAfterMs, undefined, { signal });
    }
  }
}
