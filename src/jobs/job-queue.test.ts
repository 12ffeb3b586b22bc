// Leases hold and are lost by the database's clock; and when a clock is set back, nobody waits
// until it has caught up.
import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { until } from "../../test/fixtures/until.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { openJobQueue, type JobLease, type JobQueue } from "./job-queue.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let queue: JobQueue;
before(async () => {
  database = await openTestDatabase();
  queue = await openJobQueue({ database, log: createLog("silent"), supervise: true });
});
after(async () => {
  await queue[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const accountId = newId();

async function add(): Promise<string> {
  const id = newId();
  const job = { id, accountId, priority: 0 };
  await database.db.transaction().execute(async (trx) => queue.addAll(trx, [job]));
  return id;
}

async function leased(): Promise<JobLease> {
  let lease: JobLease | undefined;
  await until(async () => ([lease] = await queue.lease([], 1)) && lease !== undefined, 60_000);
  return lease ?? assert.fail();
}

const end = async (lease: JobLease): Promise<boolean> =>
  await database.db.transaction().execute(async (trx) => queue.end(trx, lease));

test("the database's clock is set back an hour: what waits starts, leases are lost, and only by who lost them", async () => {
  const { pool } = database;
  const held = await add();
  const lost = await leased();
  const waiting = await add();
  await pool.query("update pgboss.job set start_after = now() + interval '1 hour'");
  await pool.query(
    "update pgboss.job set heartbeat_on = now() + interval '1 hour' where state = 'active'",
  );
  await pool.query(
    "update pgboss.queue set monitor_on = now() + interval '1 hour', monitor_claim_on = now() + interval '1 hour'",
  );
  const first = await leased();
  assert.deepEqual(first, { jobId: waiting, accountId, number: 1 });
  assert.ok(await end(first));
  const second = await leased();
  assert.deepEqual(second, { jobId: held, accountId, number: 2 });
  assert.equal(await end(lost), false);
  assert.ok(await end(second));
});

test("lost leases are found although this node's clock is set back an hour", async () => {
  const id = await add();
  await leased();
  const hourMs = 3_600_000;
  const { now } = Date;
  mock.method(Date, "now", () => now() - hourMs);
  try {
    // Twice: the first time the queue's timer may have been set before.
    for (const number of [2, 3]) {
      await database.pool.query("update pgboss.job set heartbeat_on = now() - interval '1 minute'");
      const lease = await leased();
      assert.deepEqual(lease, { jobId: id, accountId, number });
    }
  } finally {
    mock.restoreAll();
  }
});
