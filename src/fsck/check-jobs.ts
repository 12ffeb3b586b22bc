import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding, FindingCode } from "./finding.ts";

const pageRows = 1_000;

interface JobRow {
  readonly id: string;
  readonly media_fits: boolean;
  readonly upload_fits: boolean;
  readonly transcript_fits: boolean;
}

/**
 * Checks that jobs refer only to media, uploads and transcripts of their own account. A transcript
 * may have been deleted since its job.
 */
export async function* checkJobs(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "jobs", async (after) => await jobPage(archive, after));
  for await (const row of rows) {
    const flaws: [isRight: boolean, code: FindingCode, what: string][] = [
      [row.media_fits, "JOB_MEDIA", "its media does not exist, or belongs to another account"],
      [row.upload_fits, "JOB_UPLOAD", "its upload belongs to another account"],
      [row.transcript_fits, "JOB_TRANSCRIPT", "it has no transcript, or one of another account"],
    ];
    for (const [isRight, code, what] of flaws) {
      if (!isRight) yield { code, name: `transcriptjob/${row.id}`, what };
    }
  }
}

async function jobPage({ db }: Archive, after: string): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`
    select j.id,
      j.media_id is null or m.account_id is not distinct from j.account_id as media_fits,
      j.upload_id is null or u.account_id is not distinct from j.account_id as upload_fits,
      (j.state <> 'SUCCESS' or j.transcript_id is not null)
        and (t.id is null or coalesce(t.account_id, t.bin_account_id) = j.account_id) as transcript_fits
    from (select * from transcript_job where id > ${after} order by id limit ${pageRows}) j
    left join media m on m.id = j.media_id
    left join upload u on u.id = j.upload_id
    left join transcript t on t.id = j.transcript_id
    order by j.id
  `.execute(db);
  return rows;
}
