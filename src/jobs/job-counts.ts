import { sql, type Kysely } from "kysely";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";

/** The jobs of the whole service that have not ended. */
export interface OpenJobs {
  readonly jobs: OpenJobCounts;
  readonly alignment: OpenJobCounts;
  /** How long the oldest job that can be leased has waited since it was submitted. */
  readonly oldestWaitingSeconds: number;
}

export interface OpenJobCounts {
  readonly waiting: number;
  /** Jobs with a lease, and those that wait for their next attempt. */
  readonly running: number;
  readonly waiting_for_content: number;
}

/** Counts the jobs that have not ended, for the metrics of a node. */
export async function countOpenJobs(db: Kysely<Tables>): Promise<OpenJobs> {
  const { rows } = await sql<CountedRow>`
    select 'job' as kind,
      count(*) filter (where due_at <= now())::int as waiting,
      count(*) filter (where due_at > now())::int as running,
      (select count(*)::int from transcript_job where state = 'WAITING_FOR_CONTENT') as content,
      ${oldest} as oldest
    from transcript_job where ${openIn.transcript_job}
    union all
    select 'alignment', count(*) filter (where due_at <= now())::int,
      count(*) filter (where due_at > now())::int, 0, ${oldest}
    from alignment_job where ${openIn.alignment_job}
  `.execute(db);
  const countsOf = (wanted: CountedRow["kind"]): OpenJobCounts => {
    const row = rows.find(({ kind }) => kind === wanted);
    const { waiting = 0, running = 0, content = 0 } = row ?? {};
    return { waiting, running, waiting_for_content: content };
  };
  return {
    jobs: countsOf("job"),
    alignment: countsOf("alignment"),
    oldestWaitingSeconds: Math.max(0, ...rows.map((row) => row.oldest)),
  };
}

const oldest = sql`coalesce(
  extract(epoch from now() - min(started_at) filter (where due_at <= now())), 0)::float8`;

interface CountedRow {
  readonly kind: "job" | "alignment";
  readonly waiting: number;
  readonly running: number;
  readonly content: number;
  readonly oldest: number;
}
