import { setTimeout as sleep } from "node:timers/promises";
import { databaseTrouble } from "../database/database-trouble.ts";
import { removeUnusedUploads } from "../media/unused-uploads.ts";
import { errorFields } from "../std/log.ts";
import { enforceRetention, type RetentionParts } from "../transcripts/retention.ts";

/** What is kept for days goes within this time after them. */
const sweepEveryMs = 3_600_000;

/**
 * Deletes now and then what accounts do not want to keep, and uploads that nobody uses, until it is
 * disposed of.
 */
export function openArchiveSweep(parts: Omit<RetentionParts, "signal">): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const sweep = async (): Promise<void> => {
    while (!signal.aborted) {
      for (const each of [enforceRetention, removeUnusedUploads]) {
        await each({ ...parts, signal }).catch((error: unknown) => {
          if (signal.aborted) return;
          const isAway = databaseTrouble(error) !== undefined;
          parts.log[isAway ? "warn" : "error"](errorFields(error), "archive.sweep_failed");
        });
      }
      await sleep(sweepEveryMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const sweeping = sweep();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the sweep stops"));
      await sweeping;
    },
  };
}
