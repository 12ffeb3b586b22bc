import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely } from "kysely";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { QueuesSchema, type Operator, type Queues } from "../gen/hlust/operator/v1/operator_pb.ts";
import { newId } from "../std/ids.ts";

/** How far back failures are counted. */
const failuresMs = 24 * 3_600_000;
const reasonsMax = 50;
const accountsMax = 50;

/** Creates the RPC of the queues. */
export function queueMethods({ db }: { readonly db: Kysely<Tables> }) {
  return {
    async getQueues() {
      return await readQueues(db);
    },
  } satisfies Partial<ServiceImpl<typeof Operator>>;
}

/** Reads the queues of the whole service. */
async function readQueues(db: Kysely<Tables>): Promise<Queues> {
  // The ids of jobs begin with the time of their submission, so the primary key finds the jobs of a
  // day, however many older ones there are.
  const since = newId(Date.now() - failuresMs);
  const [queues, failures, accounts] = await Promise.all([
    countQueues(db),
    countFailures(db, since),
    countAccounts(db, since),
  ]);
  return create(QueuesSchema, { queues, failures, accounts });
}

interface QueueRow {
  readonly name: string;
  readonly waiting: number;
  readonly running: number;
  readonly waitingForContent: number;
  readonly oldestWaitingSeconds: number;
}

/** The columns of a queue whose entries are due when they wait, and due later when they run. */
const counts = sql`
  count(*) filter (where due_at <= now())::int as waiting,
  count(*) filter (where due_at > now())::int as running`;

/** The age of the oldest entry that waits, in whole seconds. */
function oldest(column: string) {
  const age = sql`extract(epoch from now() - min(${sql.ref(column)}) filter (where due_at <= now()))`;
  return sql`greatest(0, coalesce(floor(${age}), 0))::int as "oldestWaitingSeconds"`;
}

async function countQueues(db: Kysely<Tables>): Promise<QueueRow[]> {
  const { rows } = await sql<QueueRow>`
    select 'transcriptJobs' as name, ${counts},
      (select count(*)::int from transcript_job where state = 'WAITING_FOR_CONTENT')
        as "waitingForContent", ${oldest("started_at")}
    from transcript_job where ${openIn.transcript_job}
    union all
    select 'alignmentJobs', ${counts}, 0, ${oldest("started_at")}
    from alignment_job where ${openIn.alignment_job}
    union all
    select 'mediaDescriptions', ${counts}, 0, ${oldest("due_at")} from media_description
    union all
    select 'webhookDeliveries', ${counts}, 0, ${oldest("created_at")}
    from webhook_delivery
    where ${openIn.webhook_delivery}
      and webhook_id in (select id from webhook where disabled_at is null)
  `.execute(db);
  return rows;
}

/** The jobs of both kinds that were submitted after an id was made and have failed. */
function failedSince(since: string) {
  return sql`
    (select 'transcriptJobs' as queue, account_id, error from transcript_job
      where id > ${since} and state = 'ERROR'
    union all
    select 'alignmentJobs', account_id, error from alignment_job
      where id > ${since} and state = 'ERROR')`;
}

interface FailureRow {
  readonly queue: string;
  readonly reason: string;
  readonly count: number;
}

async function countFailures(db: Kysely<Tables>, since: string): Promise<FailureRow[]> {
  const { rows } = await sql<FailureRow>`
    select queue, coalesce(jsonb_path_query_first(error::jsonb, '$.details[*].reason') #>> '{}', '')
      as reason, count(*)::int as count
    from ${failedSince(since)} as failed
    group by 1, 2 order by 3 desc, 1, 2 limit ${reasonsMax}
  `.execute(db);
  return rows;
}

interface AccountRow {
  readonly account: string;
  readonly displayName: string;
  readonly waiting: number;
  readonly running: number;
  readonly failed: number;
}

async function countAccounts(db: Kysely<Tables>, since: string): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    with found as (
      select account_id, (due_at <= now())::int as waiting, (due_at > now())::int as running,
        0 as failed
      from transcript_job where ${openIn.transcript_job}
      union all
      select account_id, (due_at <= now())::int, (due_at > now())::int, 0
      from alignment_job where ${openIn.alignment_job}
      union all
      select account_id, 0, 0, 1 from ${failedSince(since)} as failed),
    counted as (
      select account_id, sum(waiting)::int as waiting, sum(running)::int as running,
        sum(failed)::int as failed
      from found group by account_id
      order by sum(waiting + running) desc, sum(failed) desc, account_id limit ${accountsMax})
    select 'accounts/' || account.id as account, account.display_name as "displayName",
      waiting, running, failed
    from counted join account on account.id = counted.account_id
    order by waiting + running desc, failed desc, account.id
  `.execute(db);
  return rows;
}
