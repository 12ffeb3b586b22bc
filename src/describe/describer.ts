import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "../audio/sandbox.ts";
import { databaseTrouble, isDatabaseTrouble } from "../database/database-trouble.ts";
import type { Database } from "../database/database.ts";
import { LeaseKeeper } from "../database/lease-keeper.ts";
import { attemptsMax, LeaseLost } from "../database/lease.ts";
import {
  endDescription,
  extendDescription,
  leaseDescription,
  releaseDescription,
  type DescriptionLease,
} from "../media/description-queue.ts";
import { keepPeaks, setFacts, setProblem, type MediaFacts } from "../media/media-facts.ts";
import type { MediaStore } from "../media/media-store.ts";
import { errorFields, type Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { describeMedia } from "./describe-media.ts";
import { isPassingFailure } from "./passing-failure.ts";
import { isLackingMedia } from "../media/lacking-media.ts";
import { openMediaCopy } from "./media-copy.ts";
import { retryWhileDatabaseDown } from "../database/retry-while-down.ts";
import { prepareScratchFolder } from "./scratch-file.ts";

export interface DescriberParts {
  readonly database: Pick<Database, "db">;
  readonly store: MediaStore;
  readonly sandbox: Sandbox;
  readonly scratchFolder: string;
  /** The maximum duration of a recording; longer ones are not described: MEDIA_TOO_LONG. */
  readonly durationMsMax: number;
  readonly log: Log;
  /** For tests: called when a piece of a waveform has been stored. */
  readonly onPiece?: (mediaId: string, number: number) => void;
}

const pollMs = 500;
/** The interval at which a lease is extended. */
const extendEveryMs = 2_000;
/** The wait before the second attempt; the wait before the third is four times as long. */
const againAfterMs = 2_000;
/** The wait after a failure that is unrelated to the media; such an attempt does not count. */
const troubleMs = 30_000;
/**
 * The additional time, after the wait before the next attempt, for which a describer whose store
 * lacks media leaves all media to others.
 */
const othersFirstMs = 5_000;
/**
 * How long a describer tries to record the end while the database is down. If this fails, the media
 * is attempted again.
 */
const giveUpAfterMs = 60_000;

/**
 * Describes uploaded media, one at a time and with the CPU time that other work leaves: no caller
 * waits for a description, unlike for recognized words. Disposing of it immediately releases
 * unfinished media.
 */
export async function openDescriber(parts: DescriberParts): Promise<AsyncDisposable> {
  await prepareScratchFolder(parts.scratchFolder);
  const { database, log } = parts;
  const failing = { afterFailureMs: pollMs * 4, isWarning: isDatabaseTrouble };
  const options = { everyMs: 0, ...failing, log, event: "describer.failed" };
  return openRepeat(options, async (stopping) => {
    const lease = await leaseDescription(database.db);
    const waitMs = lease ? await describeLeased(parts, lease, stopping) : pollMs;
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: stopping, ref: false });
  });
}

/** Describes the leased media. Returns how long to wait before the next lease. */
async function describeLeased(
  parts: DescriberParts,
  lease: DescriptionLease,
  stopping: AbortSignal,
): Promise<number> {
  const { database, log } = parts;
  const { id: mediaId } = lease;
  const keeping = {
    everyMs: extendEveryMs,
    log: log.child({ mediaId }),
    event: "describer.lease_not_extended",
  };
  const keeper = new LeaseKeeper(async () => extendDescription(database.db, lease), keeping);
  const { lost } = keeper;
  try {
    const startedAt = performance.now();
    const facts = await describe(parts, lease, AbortSignal.any([lost, stopping]));
    const ms = Math.round(performance.now() - startedAt);
    log.info({ mediaId, ...facts, ms }, "media.described");
    return 0;
  } catch (error) {
    return await endBadly(parts, lease, lost.aborted ? lost.reason : error, stopping);
  } finally {
    keeper.stop();
  }
}

async function describe(
  parts: DescriberParts,
  lease: DescriptionLease,
  signal: AbortSignal,
): Promise<MediaFacts> {
  const { sandbox, durationMsMax, onPiece } = parts;
  const { db } = parts.database;
  const { id: mediaId, attempts } = lease;
  if (attempts > attemptsMax) {
    throw new ServiceError("internal", `the worker stopped ${attemptsMax} times on this media`, {
      reason: "MEDIA_POISON",
    });
  }
  await using copy = await openMediaCopy({ ...parts, db }, mediaId, signal);
  const source = { file: copy.path, sandbox, durationMsMax, signal, isLowPriority: true };
  const facts = await describeMedia(source, async (number, peaks) => {
    await retryWhileDatabaseDown(signal, async () => {
      await keepPeaks(db, mediaId, number, peaks);
    });
    onPiece?.(mediaId, number);
  });
  await retryWhileDatabaseDown(signal, async () =>
    db.transaction().execute(async (trx) => {
      // The locks are taken in the order in which a deletion takes them.
      await setFacts(trx, mediaId, facts);
      if (!(await endDescription(trx, lease))) throw new LeaseLost();
    }),
  );
  return facts;
}

/**
 * Releases the media, now or for another attempt, or ends its description with the problem. Returns
 * how long to wait before the next lease.
 */
async function endBadly(
  { database, log }: DescriberParts,
  lease: DescriptionLease,
  error: unknown,
  stopping: AbortSignal,
): Promise<number> {
  const { db } = database;
  const { id: mediaId, attempts } = lease;
  if (error instanceof LeaseLost) {
    log.info({ mediaId }, "describer.lease_lost");
    return 0;
  }
  const isPassing = isPassingFailure(error);
  if (stopping.aborted && isPassing) {
    await releaseDescription(db, lease, { afterMs: 0, isForgiven: true });
    return 0;
  }
  const withinTime = AbortSignal.any([stopping, AbortSignal.timeout(giveUpAfterMs)]);
  const isForgiven = isTrouble(error) && !isLackingMedia(error);
  if (isForgiven || (isPassing && attempts < attemptsMax)) {
    log.warn({ mediaId, attempts, ...errorFields(error) }, "describer.attempt_failed");
    const afterMs = isForgiven ? troubleMs : againAfterMs * 4 ** (attempts - 1);
    await retryWhileDatabaseDown(withinTime, async () =>
      releaseDescription(db, lease, { afterMs, isForgiven }),
    );
    // Another node, whose store may have the media, makes the next attempt.
    return isLackingMedia(error) ? afterMs + othersFirstMs : 0;
  }
  const problem = error instanceof ServiceError ? error.reason : "INTERNAL";
  if (error instanceof ServiceError) log.info({ mediaId, problem }, "media.undescribed");
  else log.error({ mediaId, problem, ...errorFields(error) }, "media.undescribed");
  await retryWhileDatabaseDown(withinTime, async () =>
    db.transaction().execute(async (trx) => {
      if (await endDescription(trx, lease)) await setProblem(trx, mediaId, problem);
    }),
  );
  return 0;
}

/**
 * Whether the failure is unrelated to the media and may persist: a full disk, or an unavailable
 * store or database.
 */
function isTrouble(error: unknown): boolean {
  if (error instanceof ServiceError) return isPassingFailure(error);
  return databaseTrouble(error) !== undefined || (error instanceof Error && "syscall" in error);
}
