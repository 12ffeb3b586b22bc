import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

/**
 * The row of a job is its place in the queue. Takes over the jobs that wait in pg-boss, which was
 * the queue before, and drops its schema. Jobs that an older node runs are due at once; the number
 * of their lease there is taken over, so that the older node's later writes change nothing.
 */
export const oneQueue: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
    const { rows } = await sql`
      select from pg_tables where schemaname = 'pgboss' and tablename = 'job'`.execute(db);
    if (rows.length > 0) await takeOver(db);
  },
};

/**
 * One index in the order of the turns replaces two; no index has the columns of a lease, so that
 * leasing a row updates none.
 */
const statements = [
  `alter table transcript_job add due_at timestamptz not null default now()`,
  `create index transcript_job_turn on transcript_job (priority desc, id) where state = 'PROCESSING'`,
  `drop index transcript_job_priority_idx, transcript_job_priority_idx1`,
];

async function takeOver(db: Kysely<unknown>): Promise<void> {
  await sql`
    update transcript_job j
    set lease = greatest(j.lease, q.retry_count + (q.state = 'active')::int),
      due_at = case when q.state = 'active' then now() else least(q.start_after, now() + interval '1 minute') end
    from pgboss.job q
    where q.id = j.id and j.state = 'PROCESSING' and q.state in ('created', 'retry', 'active')`.execute(
    db,
  );
  await sql`drop schema pgboss cascade`.execute(db);
}
