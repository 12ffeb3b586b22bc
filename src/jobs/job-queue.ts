import type { Transaction } from "kysely";
import { fromKysely, PgBoss, type Db } from "pg-boss";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";

/** A worker's claim on a job, until it ends, is given back or is not extended for leaseSeconds. */
export interface JobLease {
  readonly jobId: string;
  /** 1 for the first lease of a job, higher for each later one. */
  readonly number: number;
}

/** Who works on what next, in the database of the jobs: what is done within `trx` is done when it commits. */
export interface JobQueue extends AsyncDisposable {
  add(trx: Transaction<Tables>, job: { id: string; priority: number }): Promise<void>;
  /** Takes a job out, waiting or leased. */
  remove(trx: Transaction<Tables>, jobId: string): Promise<void>;
  /** The next job, if one waits. */
  lease(): Promise<JobLease | undefined>;
  /** false: the lease is lost. */
  extend(lease: JobLease): Promise<boolean>;
  /** Ends the job. false: the lease is lost. */
  end(trx: Transaction<Tables>, lease: JobLease): Promise<boolean>;
  /** Lets another worker have it after a while. false: the lease is lost. */
  release(trx: Transaction<Tables>, lease: JobLease, afterMs: number): Promise<boolean>;
}

const queueName = "transcript-job";
/** The least that pg-boss takes. A worker extends its leases each second. */
const leaseSeconds = 10;
/** How soon lost leases are found: a job goes on elsewhere within leaseSeconds and about twice this. */
const superviseSeconds = 2;
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
    schema: "pgboss",
    supervise,
    schedule: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    maintenanceIntervalSeconds: 600,
  });
  boss.on("error", (error) => log.warn(errorFields(error), "queue.error"));
  boss.on("warning", ({ message }) => log.warn({ message }, "queue.warning"));
  await boss.start();
  await boss.createQueue(queueName, queueOptions);
  await boss.updateQueue(queueName, queueOptions);
  return queueOf(boss);
}

function queueOf(boss: PgBoss): JobQueue {
  return {
    async add(trx, { id, priority }) {
      await boss.send(queueName, null, { id, priority, db: fromKysely(trx) });
    },
    async remove(trx, jobId) {
      await boss.cancel(queueName, jobId, { db: fromKysely(trx) });
    },
    async lease() {
      const [job] = await boss.fetch(queueName);
      return job && { jobId: job.id, number: job.retryCount + 1 };
    },
    async extend(lease) {
      return isAffected(await boss.touch(queueName, attemptOf(lease)));
    },
    async end(trx, lease) {
      const options = { db: fromKysely(trx) };
      return isAffected(await boss.complete(queueName, attemptOf(lease), null, options));
    },
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
      await boss.stop({ graceful: true, timeout: 5_000, close: false });
    },
  };
}

/** pg-boss counts claims from 0, and takes a settlement only from the claim that holds the job. */
function attemptOf({ jobId, number }: JobLease): { id: string; retryCount: number } {
  return { id: jobId, retryCount: number - 1 };
}

/** pg-boss answers how many jobs a call reached, beside its type. */
function isAffected(response: object): boolean {
  return "affected" in response && response.affected === 1;
}
