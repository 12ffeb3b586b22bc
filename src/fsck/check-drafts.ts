import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding, FindingCode } from "./finding.ts";

/** The number of transcripts whose drafts are checked together. */
const pageRows = 500;

interface DraftRow {
  /** The transcript. */
  readonly id: string;
  readonly actor: string;
  readonly account_fits: boolean;
  readonly version_fits: boolean;
}

/**
 * Checks that drafts belong to the account of their transcript and of their owner, and that their
 * transcript has the version that they change. Nothing is repaired: a draft can contain the only
 * copy of someone's work.
 */
export async function* checkDrafts(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "drafts", async (after) => await draftPage(archive, after));
  for await (const row of rows) {
    const name = `transcripts/${row.id}/draft`;
    const flaws: [isRight: boolean, code: FindingCode, what: string][] = [
      [row.account_fits, "DRAFT_ACCOUNT", `that of ${row.actor} belongs to another account`],
      [row.version_fits, "DRAFT_VERSION", `that of ${row.actor} changes an unknown version`],
    ];
    for (const [isRight, code, what] of flaws) if (!isRight) yield { code, name, what };
  }
}

async function draftPage({ db }: Archive, after: string): Promise<readonly DraftRow[]> {
  const { rows } = await sql<DraftRow>`
    select d.transcript_id as id, d.actor,
      d.account_id = coalesce(t.account_id, t.bin_account_id) and d.account_id = coalesce(m.account_id, a.account_id, c.account_id)
        as account_fits,
      exists (select from transcript_version v
        where v.id = d.base_version_id and v.transcript_id = d.transcript_id) as version_fits
    from transcript_draft d
    join transcript t on t.id = d.transcript_id
    left join member m on m.id = d.member_id
    left join api_key a on a.id = d.api_key_id
    left join client_key c on c.id = d.client_key_id
    where d.transcript_id in (select distinct transcript_id from transcript_draft
      where transcript_id > ${after} order by transcript_id limit ${pageRows})
    order by d.transcript_id, d.actor
  `.execute(db);
  return rows;
}
