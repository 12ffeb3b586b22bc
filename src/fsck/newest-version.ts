import { sql, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { jsonText } from "../transcripts/metadata-text.ts";

/** Returns the newest version of a sound chain; undefined if the chain is broken. */
export async function newestVersion(trx: Transaction<Tables>, transcriptId: string) {
  const { rows } = await sql<{ id: string; parent_id: string | null; metadata: string }>`
    with chain as (
      select v.*, p.id as found, p.created_at as earlier
      from transcript_version v
      left join transcript_version p on p.id = v.parent_id and p.transcript_id = v.transcript_id
      where v.transcript_id = ${transcriptId})
    select id, parent_id, metadata::text as metadata
    from chain
    where not exists (select from chain c where c.parent_id = chain.id)
      and (select count(*) filter (where parent_id is null) = 1
          and count(parent_id) = count(found)
          and count(parent_id) = count(distinct parent_id)
          and count(*) filter (where created_at <= earlier) = 0
        from chain)
  `.execute(trx);
  return rows.length === 1 ? rows[0] : undefined;
}

/** Reads and locks a head until the transaction ends. */
export async function lockHead(
  trx: Transaction<Tables>,
  transcriptId: string,
): Promise<{ version_id: string; metadata: string; is_lost: boolean } | undefined> {
  return await trx
    .selectFrom("transcript as t")
    .where("t.id", "=", transcriptId)
    .select([
      "t.version_id",
      jsonText("t.metadata").as("metadata"),
      sql<boolean>`not exists (
        select from transcript_version v where v.id = t.version_id and v.transcript_id = t.id)`.as(
        "is_lost",
      ),
    ])
    .forUpdate()
    .executeTakeFirst();
}
