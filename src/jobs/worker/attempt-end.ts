import type { Kysely } from "kysely";
import { databaseTrouble } from "../../database/database-trouble.ts";
import { attemptsMax, LeaseLost } from "../../database/lease.ts";
import { retryWhileDatabaseDown } from "../../database/retry-while-down.ts";
import type { Tables } from "../../database/tables.ts";
import { engineFailed, noEngine } from "../../engines/protocol/engine-absence.ts";
import { isPassingFailure } from "../../describe/passing-failure.ts";
import { isLackingMedia, lostMedia, type AvoidedAccounts } from "../../media/lacking-media.ts";
import type { JobRecorder } from "../../metrics/recorders.ts";
import { errorFields, type Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { failureStatus, internalFailure } from "../job-failure.ts";
import { failJob } from "./end-jobs.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { releaseJob, takeAttemptBack } from "./lease-jobs.ts";

/**
 * How long the end of a job is retried while the database is down. A job that could not be ended is
 * attempted again.
 */
const giveUpAfterMs = 60_000;

export interface AttemptEndParts {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  /** The accounts with jobs that this worker leaves to other workers for a while. */
  readonly avoided: Pick<AvoidedAccounts, "avoid">;
  /**
   * The base delay before retries. The delay before the second attempt at a job is eight times as
   * long.
   */
  readonly retryMs: number;
  readonly recorder?: JobRecorder | undefined;
}

/** Ends attempts that did not succeed. */
export class AttemptEnd {
  readonly #parts: AttemptEndParts;

  constructor(parts: AttemptEndParts) {
    this.#parts = parts;
  }

  /** Releases the job, immediately or for an attempt after a delay, or ends it as ERROR. */
  async failed(attempt: JobAttempt, error: unknown): Promise<void> {
    const { signal, stopping } = attempt;
    if (error instanceof LeaseLost || signal.reason instanceof LeaseLost) {
      await this.#lost(attempt);
    } else if (stopping.aborted && isPassingFailure(error)) {
      await this.#giveUp(attempt);
    } else {
      const failure = failureOf(error);
      const { attempts } = attempt;
      // While the media store, the database or the engine is unavailable, the failure is unrelated
      // to this job.
      const isForgiven =
        failure.reason === "STORAGE_UNAVAILABLE" ||
        failure.reason === noEngine ||
        databaseTrouble(error)?.reason === "DATABASE_UNAVAILABLE";
      const isRetried = isPassingFailure(error) && (isForgiven || attempts < attemptsMax);
      if (isRetried) await this.#retry(attempt, failure, error, isForgiven);
      else await this.#fail(attempt, failure, error);
    }
  }

  /**
   * Handles a lost lease. A job that blocks its worker each time loses each lease; these attempts
   * count, so that they end.
   */
  async #lost({ id, piecesKept, isExtendedInTime, isCounted }: JobAttempt): Promise<void> {
    const { db, log, recorder } = this.#parts;
    log.info({ jobId: id }, "job.lease_lost");
    recorder?.released();
    if (isCounted && (piecesKept > 0 || isExtendedInTime)) await takeAttemptBack(db, id);
  }

  async #giveUp({ id, job, signal, isCounted }: JobAttempt): Promise<void> {
    const { db, log, recorder } = this.#parts;
    log.info({ jobId: id }, "job.released");
    recorder?.released();
    const released = { isForgiven: isCounted };
    await retryWhileDatabaseDown(signal, () => releaseJob(db, job.lease, released));
  }

  async #retry(
    { id, job, attempts, isCounted, signal }: JobAttempt,
    failure: ServiceError,
    error: unknown,
    isForgiven: boolean,
  ): Promise<void> {
    const { db, log, avoided, retryMs, recorder } = this.#parts;
    const { lease, accountId } = job;
    const fields = { jobId: id, attempts, code: failure.code, reason: failure.reason };
    log.warn({ ...fields, ...errorFields(error) }, "job.attempt_failed");
    recorder?.retried();
    // An absent engine is not asked for by each job every few seconds for hours.
    const isOfEngine = failure.reason === noEngine || failure.reason === engineFailed;
    const engineMs = isOfEngine ? (failure.retryAfterMs ?? 0) : 0;
    const afterMs = Math.max(engineMs, 8 * retryMs * 4 ** (attempts - 1));
    if (isLackingMedia(error)) avoided.avoid(accountId, afterMs);
    await retryWhileDatabaseDown(withinTime(signal), () =>
      releaseJob(db, lease, { afterMs, isForgiven: isForgiven && isCounted }),
    );
  }

  async #fail(
    { id, job, attempts, signal }: JobAttempt,
    failure: ServiceError,
    error: unknown,
  ): Promise<void> {
    const { db, log, recorder } = this.#parts;
    const { lease } = job;
    const fields = { jobId: id, attempts, code: failure.code, reason: failure.reason };
    if (error === failure) log.info(fields, "job.failed");
    else log.error({ ...fields, ...errorFields(error) }, "job.failed");
    recorder?.failed(failure.reason);
    await retryWhileDatabaseDown(withinTime(signal), async () =>
      db.transaction().execute(async (trx) => failJob(trx, lease, failureStatus(failure))),
    );
  }
}

/** Returns the error that the caller receives. */
function failureOf(error: unknown): ServiceError {
  if (isLackingMedia(error)) return lostMedia(attemptsMax);
  return error instanceof ServiceError ? error : internalFailure;
}

function withinTime(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(giveUpAfterMs)]);
}
