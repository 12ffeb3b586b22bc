import { systemClock, type Clock } from "pg-boss";
import type pg from "pg";

/** Of the queue's timers: it goes on at its pace, whatever the clock of this node is set to. */
export const steadyClock: Clock = {
  ...systemClock,
  now: () => performance.timeOrigin + performance.now(),
};

/**
 * After the clock of the database was set back, what was written before lies ahead: a job would
 * wait until it may start, a lease would last, and lost leases would be looked for again only when
 * the clock has caught up. Brings all that to now. No job is made to wait for as long as `interval
 * '10 minutes'` on purpose; statements that overlap differ by less than 5 seconds.
 */
export async function mendClocks(pool: Pick<pg.Pool, "query">, queueName: string): Promise<void> {
  await pool.query(
    `update pgboss.job set start_after = least(start_after, now()), heartbeat_on = least(heartbeat_on, now())
     where name = $1 and (state in ('created', 'retry') and start_after > now() + interval '10 minutes'
       or state = 'active' and heartbeat_on > now() + interval '5 seconds')`,
    [queueName],
  );
  await pool.query(
    `update pgboss.queue set monitor_on = least(monitor_on, now()), monitor_claim_on = least(monitor_claim_on, now()),
       maintain_on = least(maintain_on, now())
     where name = $1 and greatest(monitor_on, monitor_claim_on, maintain_on) > now() + interval '5 seconds'`,
    [queueName],
  );
}
