import { removeOldAudit } from "../auth/old-audit.ts";
import { removeOldSessions } from "../auth/old-sessions.ts";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import { removeUnusedUploads } from "../media/unused-uploads.ts";
import { openRepeat } from "../std/repeat.ts";
import { emptyBins } from "../transcripts/empty-bins.ts";
import { removeOldDrafts } from "../transcripts/old-drafts.ts";
import { removeOldShares } from "../transcripts/old-shares.ts";
import { sweepPresence } from "../transcripts/presence-store.ts";
import { enforceRetention, type RetentionParts } from "../transcripts/retention.ts";
import { sweepChanges } from "../watches/change-feed.ts";

/** The interval of the sweep: data is deleted within this time after its retention has ended. */
const sweepEveryMs = 3_600_000;

/**
 * Deletes data whose retention has ended, transcripts whose time in the bin is over, old drafts,
 * expired shares, unused uploads, ended sessions, old events of the audit log, and old records of
 * changes and presence, every hour until disposed of. Each has a loop of its own, so that a failure
 * of one does not stop the others. They can run concurrently, as they do on several nodes, since
 * each tolerates rows that another transaction deletes.
 */
export function openArchiveSweep(
  parts: Omit<RetentionParts, "signal"> & {
    readonly binDays: number;
    readonly auditDays: number;
  },
): AsyncDisposable {
  const { log } = parts;
  const failing = { isWarning: isDatabaseTrouble, event: "archive.sweep_failed" };
  const forgetChanges = async ({ db }: Pick<RetentionParts, "db">) => await sweepChanges(db);
  const forgetPresence = async ({ db }: Pick<RetentionParts, "db">) => await sweepPresence(db);
  const all = [
    enforceRetention,
    emptyBins,
    removeOldDrafts,
    removeOldShares,
    removeUnusedUploads,
    removeOldSessions,
    removeOldAudit,
    forgetChanges,
    forgetPresence,
  ];
  const sweeps = all.map((sweep) =>
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
