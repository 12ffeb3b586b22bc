import { sql, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { vocabularyLimits, type CheckedPhrase } from "./check-phrase.ts";
import { columnsOf, inKeyOrder, trimPhrases } from "./phrase-store.ts";

/**
 * Adds the corrections of a save as candidates, in its commit: if a job has recognized the
 * transcript, and the account wants candidates. A phrase that is there already only counts the
 * correction, so a rejected one stays rejected. Waits for a change of the same phrases, at most.
 */
export async function addCandidates(
  trx: Transaction<Tables>,
  accountId: string,
  transcriptId: string,
  corrections: readonly CheckedPhrase[],
): Promise<void> {
  if (corrections.length === 0 || !(await wantsCandidates(trx, accountId, transcriptId))) return;
  const rows = inKeyOrder(corrections).map((phrase) => ({
    ...columnsOf(phrase),
    id: newId(),
    account_id: accountId,
    source: "EDITOR" as const,
    state: "CANDIDATE" as const,
    correction_count: 1,
  }));
  await trx
    .insertInto("vocabulary_phrase")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["account_id", "language_code", "folded"]).doUpdateSet({
        correction_count: sql`vocabulary_phrase.correction_count + 1`,
        updated_at: sql<Date>`case when vocabulary_phrase.state = 'CANDIDATE' then now()
          else vocabulary_phrase.updated_at end`,
      }),
    )
    .execute();
  await trimPhrases(trx, accountId, "CANDIDATE", vocabularyLimits.candidates);
}

async function wantsCandidates(
  trx: Transaction<Tables>,
  accountId: string,
  transcriptId: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom("account")
    .where("id", "=", accountId)
    .where("vocabulary_candidates_disabled", "=", false)
    .where((where) =>
      where.exists(
        where
          .selectFrom("transcript_version")
          .where("transcript_id", "=", transcriptId)
          .where("kind", "=", "RECOGNIZED")
          .select("id"),
      ),
    )
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}
