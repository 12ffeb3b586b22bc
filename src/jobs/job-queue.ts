import type { Transaction } from "kysely";
import { fromKysely, PgBoss, type Db } from "pg-boss";
import type { Database } from "../database/database.ts";
import { queueSchema } from "../database/queue-schema.ts";
import type { Tables } from "../database/tables.ts";
import { Arrivals } from "./arrivals.ts";
import { errorFields, type Log } from "../std/log.ts";
import { mendClocks, steadyClock } from "./queue-clocks.ts";

/** A worker's claim on a job, until it ends, is given back or is not extended for leaseSeconds. */
export interface JobLease {
  readonly jobId: string;
  readonly accountId: string;
  /** 1 for the first lease of a job, higher for each later one. */
  readonly number: number;
}

export interface QueuedJob {
  readonly id: string;
  readonly accountId: string;
  /** Its turn: higher comes first. */
  readonly priority: number;
}

/**
 * Who works on what next, in the database of the jobs: what is done within `trx` is done when it
 * commits.
 */
export interface JobQueue extends AsyncDisposable {
  addAll(trx: Transaction<Tables>, jobs: readonly QueuedJob[]): Promise<void>;
  /** Tells the worker of this process that jobs were added, once that is committed. */
  announce(): void;
  /** Resolves when jobs are announced here, or when the time is over: other nodes say nothing. */
  arrival(msMax: number, signal: AbortSignal): Promise<void>;
  /** Takes a job out, waiting or leased. */
  remove(trx: Transaction<Tables>, jobId: string): Promise<void>;
  /** The next jobs by turn that wait, past those of these accounts: at most so many. */
  lease(passedOver: readonly string[], jobsMax: number): Promise<JobLease[]>;
  /** false: the lease is lost. */
  extend(lease: JobLease): Promise<boolean>;
  /** Ends the job. false: the lease is lost. */
  end(trx: Transaction<Tables>, lease: JobLease): Promise<boolean>;
  /** The same of many. false: one of the leases is lost. */
  endAll(trx: Transaction<Tables>, leases: readonly JobLease[]): Promise<boolean>;
  /** Lets another worker have it after a while; it keeps its turn. false: the lease is lost. */
  release(trx: Transaction<Tables>, lease: JobLease, afterMs: number): Promise<boolean>;
}

const queueName = "transcript-job";
/** The least that pg-boss takes. A worker extends its leases each second. */
const leaseSeconds = 10;
/**
 * How soon lost leases are found: a job goes on elsewhere within leaseSeconds and about twice this.
 */
const superviseSeconds = 2;
/** How soon it is found that the clock of the database was set back. */
const mendClocksMs = 5_000;
const day = 86_400;

const queueOptions = {
  heartbeatSeconds: leaseSeconds,
  /** The heartbeat is the lease; this is the most that pg-boss takes. */
  expireInSeconds: day,
  /** A waiting job never goes away by itself. */
  retentionSeconds: 3650 * day,
  deleteAfterSeconds: 600,
  /** How often a job is tried is our matter: transcript_job.tries. */
  retryLimit: 1_000_000,
  retryDelay: 0,
  retryBackoff: false,
} as const;

/** Opens the queue. `supervise`: this node finds lost leases; at least one has to. */
export async function openJobQueue(parts: {
  readonly database: Pick<Database, "pool">;
  readonly log: Log;
  readonly supervise: boolean;
}): Promise<JobQueue> {
  const { database, log, supervise } = parts;
  const pool: Db = {
    executeSql: async (text, values) => await database.pool.query(text, values),
  };
  const boss = new PgBoss({
    db: pool,
    schema: queueSchema,
    // openDatabase() has brought its schema up.
    migrate: false,
    supervise,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    maintenanceIntervalSeconds: 600,
    clock: steadyClock,
  });
  boss.on("error", (error) => log.warn(errorFields(error), "queue.error"));
  boss.on("warning", ({ message }) => log.warn({ message }, "queue.warning"));
  try {
    await boss.start();
    await boss.createQueue(queueName, queueOptions);
    await boss.updateQueue(queueName, queueOptions);
  } catch (error) {
    // By itself it would go on looking after its queues for ever, and the process with it.
    await boss.stop({ graceful: false, close: false });
    throw error;
  }
  const mending = setInterval(() => {
    if (!supervise) return;
    mendClocks(database.pool, queueName).catch((error: unknown) => {
      log.warn(errorFields(error), "queue.clocks_not_mended");
    });
  }, mendClocksMs);
  mending.unref();
  return queueOf(boss, mending);
}

function queueOf(boss: PgBoss, mending: NodeJS.Timeout): JobQueue {
  const endAll: JobQueue["endAll"] = async (trx, leases) => {
    const options = { db: fromKysely(trx) };
    const attempts = leases.map(attemptOf);
    return isAffected(await boss.complete(queueName, attempts, null, options), leases.length);
  };
  const arrivals = new Arrivals();
  return {
    async addAll(trx, jobs) {
      if (jobs.length === 0) return;
      const rows = jobs.map(({ id, accountId, priority }) => ({
        id,
        priority,
        group: { id: accountId },
      }));
      await boss.insert(queueName, rows, { db: fromKysely(trx), returnId: false });
    },
    announce() {
      arrivals.announce();
    },
    async arrival(msMax, signal) {
      await arrivals.next(msMax, signal);
    },
    async remove(trx, jobId) {
      await boss.cancel(queueName, jobId, { db: fromKysely(trx) });
    },
    async lease(passedOver, batchSize) {
      const jobs = await boss.fetch(queueName, { batchSize, ignoreGroups: [...passedOver] });
      return jobs.map(({ id, groupId, retryCount }) => ({
        jobId: id,
        accountId: groupId ?? "",
        number: retryCount + 1,
      }));
    },
    async extend(lease) {
      return isAffected(await boss.touch(queueName, attemptOf(lease)));
    },
    async end(trx, lease) {
      return await endAll(trx, [lease]);
    },
    endAll,
    async release(trx, lease, afterMs) {
      const db = fromKysely(trx);
      if (!isAffected(await boss.fail(queueName, attemptOf(lease), null, { db }))) return false;
      if (afterMs > 0) {
        const startAfter = `${afterMs} milliseconds`;
        await boss.update(queueName, undefined, { id: lease.jobId, startAfter, db });
      }
      return true;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(mending);
      await boss.stop({ graceful: true, timeout: 5_000, close: false });
    },
  };
}

/** pg-boss counts claims from 0, and takes a settlement only from the claim that holds the job. */
function attemptOf({ jobId, number }: JobLease): { id: string; retryCount: number } {
  return { id: jobId, retryCount: number - 1 };
}

/** pg-boss answers how many jobs a call reached, beside its type. */
function isAffected(response: object, count = 1): boolean {
  return "affected" in response && response.affected === count;
}
