import { isDatabaseTrouble } from "../database/database-trouble.ts";
import { removeUnusedUploads } from "../media/unused-uploads.ts";
import { openRepeat } from "../std/repeat.ts";
import { enforceRetention, type RetentionParts } from "../transcripts/retention.ts";
import { sweepChanges } from "../watches/change-feed.ts";

/** The interval of the sweep: data is deleted within this time after its retention has ended. */
const sweepEveryMs = 3_600_000;

/**
 * Deletes data whose retention has ended, unused uploads and old records of changes, every hour
 * until disposed of. Each has a loop of its own, so that a failure of one does not stop the others.
 * They can run concurrently, as they do on several nodes, since each tolerates rows that another
 * transaction deletes.
 */
export function openArchiveSweep(parts: Omit<RetentionParts, "signal">): AsyncDisposable {
  const { log } = parts;
  const failing = { isWarning: isDatabaseTrouble, event: "archive.sweep_failed" };
  const forgetChanges = async ({ db }: Pick<RetentionParts, "db">) => await sweepChanges(db);
  const sweeps = [enforceRetention, removeUnusedUploads, forgetChanges].map((sweep) =>
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
