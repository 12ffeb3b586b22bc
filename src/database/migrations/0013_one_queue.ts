import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";

/**
 * Makes the row of a job its place in the queue. Moves the jobs that wait in pg-boss, the previous
 * queue, and drops its schema, unless another application uses it. Jobs that an older node is
 * running become due immediately, and that attempt does not count. The lease numbers of these jobs
 * are copied from pg-boss, so that the older node's later writes change nothing.
 */
export const oneQueue: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
    const { rows } = await sql`
      select from pg_tables where schemaname = 'pgboss' and tablename in ('job', 'queue')
        and pg_has_role(tableowner, 'usage')`.execute(db);
    if (rows.length === 2) await takeOver(db);
  },
};

/**
 * One index in the order of the turns replaces two. No index contains the columns of a lease, so
 * leasing a row updates no index.
 */
const statements = [
  `alter table transcript_job add due_at timestamptz not null default now()`,
  `create index transcript_job_turn on transcript_job (priority desc, id) where state = 'PROCESSING'`,
  `drop index transcript_job_priority_idx, transcript_job_priority_idx1`,
];

const queueName = "transcript-job";

async function takeOver(db: Kysely<unknown>): Promise<void> {
  const { rows: queues } = await sql<{ name: string }>`
    select name from pgboss.queue where name not like '\\_\\_pgboss\\_\\_%'`.execute(db);
  if (!queues.some(({ name }) => name === queueName)) return;
  // A concurrent write by an older node is either visible here or fails.
  await sql`lock table pgboss.job in exclusive mode`.execute(db);
  await sql`
    update transcript_job j
    set lease = greatest(j.lease, q.retry_count + (q.state = 'active')::int),
      tries = greatest(j.tries - (q.state = 'active')::int, 0),
      due_at = case when q.state = 'active' then now() else least(q.start_after, now() + interval '1 minute') end
    from pgboss.job q
    where q.id = j.id and q.name = ${queueName} and j.state = 'PROCESSING'
      and q.state in ('created', 'retry', 'active')`.execute(db);
  if (queues.length === 1) await sql`drop schema pgboss cascade`.execute(db);
  else await sql`delete from pgboss.job where name = ${queueName}`.execute(db);
}
