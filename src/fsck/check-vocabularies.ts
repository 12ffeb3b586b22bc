import { sql } from "kysely";
import { canonicalLanguageCode } from "../std/language-code.ts";
import { foldPhrase } from "../vocabulary/fold-phrase.ts";
import { paged, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageRows = 1000;

interface PhraseRow {
  readonly id: string;
  readonly account_id: string;
  readonly phrase: string;
  readonly folded: string;
  readonly language_code: string;
  readonly has_revision: boolean;
}

/**
 * Checks that phrases are stored under the text and the language by which they are unique, and that
 * nodes notice changes of the active ones.
 */
export async function* checkVocabularies(
  archive: Archive,
): AsyncGenerator<Finding, void, undefined> {
  const rows = paged(archive, "phrases", async (after) => await phrasePage(archive, after));
  for await (const row of rows) {
    const name = `vocabularyPhrases/${row.id}`;
    if (foldPhrase(row.phrase) !== row.folded) {
      yield { code: "PHRASE_FOLDED", name, what: "its folded text is not that of its phrase" };
    }
    if (canonicalLanguageCode(row.language_code) !== row.language_code) {
      yield { code: "PHRASE_LANGUAGE", name, what: "its language code is not canonical" };
    }
    if (row.has_revision) continue;
    const what = "it is active, and its account has no revision";
    const remedy = {
      done: "its account has a revision",
      run: async () => await addRevision(archive, row.account_id),
    };
    yield { code: "PHRASE_REVISION", name, what, remedy };
  }
}

async function phrasePage({ db }: Archive, after: string): Promise<readonly PhraseRow[]> {
  const { rows } = await sql<PhraseRow>`
    select p.id, p.account_id, p.phrase, p.folded, p.language_code,
      p.state <> 'ACTIVE' or v.account_id is not null as has_revision
    from vocabulary_phrase p left join vocabulary v on v.account_id = p.account_id
    where p.id > ${after} order by p.id limit ${pageRows}
  `.execute(db);
  return rows;
}

async function addRevision({ db }: Archive, accountId: string): Promise<boolean> {
  await db
    .insertInto("vocabulary")
    .values({ account_id: accountId, revision: 1 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return true;
}
