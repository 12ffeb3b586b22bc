import { isDatabaseTrouble } from "../database/database-trouble.ts";
import { removeUnusedUploads } from "../media/unused-uploads.ts";
import { openRepeat } from "../std/repeat.ts";
import { enforceRetention, type RetentionParts } from "../transcripts/retention.ts";

/** The interval of the sweep: data is deleted within this time after its retention has ended. */
const sweepEveryMs = 3_600_000;

/**
 * Deletes data whose retention has ended, and unused uploads, every hour until disposed of. These
 * are two loops, so that a failure of one does not stop the other. They can run concurrently, as
 * they do on several nodes, since each tolerates rows that another transaction deletes.
 */
export function openArchiveSweep(parts: Omit<RetentionParts, "signal">): AsyncDisposable {
  const { log } = parts;
  const failing = { isWarning: isDatabaseTrouble, event: "archive.sweep_failed" };
  const sweeps = [enforceRetention, removeUnusedUploads].map((sweep) =>
    openRepeat({ everyMs: sweepEveryMs, log, ...failing }, async (signal) =>
      sweep({ ...parts, signal }),
    ),
  );
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(sweeps.map(async (each) => each[Symbol.asyncDispose]()));
    },
  };
}
