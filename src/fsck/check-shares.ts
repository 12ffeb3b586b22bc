import { sql } from "kysely";
import { paged, type Archive } from "./archive.ts";
import type { Finding, FindingCode } from "./finding.ts";

/** The number of shares that are checked together. */
const pageRows = 500;

interface ShareRow {
  readonly id: string;
  readonly transcript_id: string;
  readonly account_fits: boolean;
  readonly version_fits: boolean;
}

/**
 * Checks that shares belong to the account of their transcript, and that their transcript has the
 * version that they show. Nothing is repaired: who may read a transcript is decided by people.
 */
export async function* checkShares(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "shares", async (after) => await sharePage(archive, after));
  for await (const row of rows) {
    const name = `transcripts/${row.transcript_id}/shares/${row.id}`;
    const flaws: [isRight: boolean, code: FindingCode, what: string][] = [
      [row.account_fits, "SHARE_ACCOUNT", "it belongs to another account than its transcript"],
      [row.version_fits, "SHARE_VERSION", "it shows a version that its transcript does not have"],
    ];
    for (const [isRight, code, what] of flaws) if (!isRight) yield { code, name, what };
  }
}

async function sharePage({ db }: Archive, after: string): Promise<readonly ShareRow[]> {
  const { rows } = await sql<ShareRow>`
    select s.id, s.transcript_id, s.account_id = coalesce(t.account_id, t.bin_account_id) as account_fits,
      s.version_id is null or exists (select from transcript_version v
        where v.id = s.version_id and v.transcript_id = s.transcript_id) as version_fits
    from transcript_share s
    join transcript t on t.id = s.transcript_id
    where s.id > ${after}
    order by s.id limit ${pageRows}
  `.execute(db);
  return rows;
}
