import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding, FindingCode } from "./finding.ts";

const pageRows = 1_000;

interface JobRow {
  readonly id: string;
  readonly transcript_fits: boolean;
  readonly versions_fit: boolean;
}

/**
 * Checks that alignment jobs refer only to transcripts of their own account and to versions of
 * these transcripts. A transcript may have been deleted since its job.
 */
export async function* checkAlignmentJobs(
  archive: Archive,
): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "alignment jobs", async (after) => await jobPage(archive, after));
  for await (const row of rows) {
    const flaws: [isRight: boolean, code: FindingCode, what: string][] = [
      [row.transcript_fits, "ALIGNMENT_TRANSCRIPT", "its transcript belongs to another account"],
      [row.versions_fit, "ALIGNMENT_VERSION", "its transcript lacks a version that it names"],
    ];
    for (const [isRight, code, what] of flaws) {
      if (!isRight) yield { code, name: `alignmentjobs/${row.id}`, what };
    }
  }
}

async function jobPage({ db }: Archive, after: string): Promise<readonly JobRow[]> {
  const { rows } = await sql<JobRow>`
    select j.id, t.id is null or coalesce(t.account_id, t.bin_account_id) = j.account_id as transcript_fits,
      (j.state = 'SUCCESS') = (j.created_version_id is not null)
        and (t.id is null or (
          exists (select from transcript_version v where v.id = j.version_id and v.transcript_id = t.id)
          and (j.created_version_id is null or exists (
            select from transcript_version v where v.id = j.created_version_id and v.transcript_id = t.id)))) as versions_fit
    from (select * from alignment_job where id > ${after} order by id limit ${pageRows}) j
    left join transcript t on t.id = j.transcript_id
    order by j.id
  `.execute(db);
  return rows;
}
