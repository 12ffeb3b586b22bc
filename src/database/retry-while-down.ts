import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "./database-trouble.ts";

const againAfterMs = 1_000;

/**
 * Does what writes to the database, again and again while the database is away. Throws what is not
 * about that.
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
