import { sql, type Kysely } from "kysely";
import { cacheReads } from "../auth/cached-reads.ts";
import type { Tables } from "../database/tables.ts";
import { hintPhrasesMax } from "../engines/protocol/check-hints.ts";
import type { Hint } from "../engines/protocol/engine.ts";
import { canonicalLanguageCode, coversLanguage } from "../std/language-code.ts";
import { foldPhrase } from "./fold-phrase.ts";

/** The number of accounts whose vocabularies are kept in memory: at most 20 MB in all. */
const accountsMax = 200;

/** The active phrases of accounts, as hints. */
export interface AccountHints {
  /**
   * Returns the hints of a call, and after them as many active phrases of the account's vocabulary
   * in this language as fit, with or without a region: is-IS has the phrases of "is" too, and the
   * other way round. A change by any node applies within a second.
   */
  extend(
    hints: readonly Hint[] | undefined,
    account: { readonly accountId: string; readonly languageCode: string },
  ): Promise<readonly Hint[] | undefined>;
}

/** Creates the hints of accounts, which are cached by the revision of their vocabulary. */
export function createAccountHints({
  db,
  now = Date.now,
}: {
  readonly db: Kysely<Tables>;
  readonly now?: () => number;
}): AccountHints {
  const cached = cacheReads<StoredHints>(
    now,
    async (accountId, before) => await readHints(db, accountId, before),
    accountsMax,
  );
  return {
    async extend(hints, { accountId, languageCode }) {
      const stored = await cached.find(accountId);
      const own = stored && phrasesFor(canonicalLanguageCode(languageCode) ?? languageCode, stored);
      return own && own.length > 0 ? extended(hints ?? [], own) : hints;
    },
  };
}

interface StoredHints {
  readonly revision: string;
  /** The phrases of all languages: those that are used first come first. */
  readonly phrases: readonly PhraseRow[];
  /** The hints by the language of a recognition, once it was asked for. */
  readonly byLanguage: Map<string, readonly Hint[]>;
}

async function readHints(
  db: Kysely<Tables>,
  accountId: string,
  before: StoredHints | undefined,
): Promise<StoredHints | undefined> {
  const row = await db
    .selectFrom("vocabulary")
    .where("account_id", "=", accountId)
    .select("revision")
    .executeTakeFirst();
  if (!row || row.revision === before?.revision) return before;
  // Phrases may be newer than the revision, which then differs at the next read.
  const { rows } = await sql<PhraseRow>`
    select language_code, phrase, weight, sounds_like from (
      select *, row_number() over (
        partition by language_code order by weight desc, updated_at desc, id) as place
      from vocabulary_phrase where account_id = ${accountId} and state = 'ACTIVE') ordered
    where place <= ${hintPhrasesMax} order by weight desc, updated_at desc, id`.execute(db);
  return { revision: row.revision, phrases: rows, byLanguage: new Map() };
}

/** Returns the hints for a language. A text that several languages have counts once. */
function phrasesFor(languageCode: string, { phrases, byLanguage }: StoredHints): readonly Hint[] {
  const known = byLanguage.get(languageCode);
  if (known) return known;
  const found = new Map<string, PhraseRow>();
  for (const row of phrases) {
    const folded = foldPhrase(row.phrase);
    if (coversLanguage(row.language_code, languageCode) && !found.has(folded)) {
      found.set(folded, row);
    }
  }
  const hints = Array.from(found.values(), hintOf).slice(0, hintPhrasesMax);
  byLanguage.set(languageCode, hints);
  return hints;
}

interface PhraseRow {
  readonly language_code: string;
  readonly phrase: string;
  readonly weight: number;
  readonly sounds_like: readonly string[];
}

function hintOf({ phrase, weight, sounds_like: soundsLike }: PhraseRow): Hint {
  return { phrase, boost: weight, ...(soundsLike.length > 0 && { soundsLike }) };
}

/**
 * Adds the phrases that the call itself does not have, up to the maximum number of hints, which
 * travel to an engine process with each recognition.
 */
function extended(hints: readonly Hint[], vocabulary: readonly Hint[]): readonly Hint[] {
  if (hints.length === 0) return vocabulary;
  const called = new Set(hints.map(({ phrase }) => foldPhrase(phrase)));
  const added = vocabulary.filter(({ phrase }) => !called.has(foldPhrase(phrase)));
  return [...hints, ...added].slice(0, Math.max(hints.length, hintPhrasesMax));
}
