import { sql, type Kysely, type Selectable, type Transaction } from "kysely";
import { DatabaseError } from "pg";
import type { Tables, VocabularyPhraseTable } from "../database/tables.ts";
import type { ListPosition } from "../std/page-request.ts";
import { newId } from "../std/ids.ts";
import type { CheckedPhrase } from "./check-phrase.ts";

export type StoredPhrase = Omit<Selectable<VocabularyPhraseTable>, "account_id">;
export type PhraseState = StoredPhrase["state"];

const shownColumns = [
  "id",
  "language_code",
  "phrase",
  "folded",
  "weight",
  "sounds_like",
  "source",
  "state",
  "correction_count",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof StoredPhrase)[];

/** The text by which a phrase is unique in an account. */
export type PhraseKey = Pick<CheckedPhrase, "languageCode" | "folded">;

/** Returns the key as one text: a language code has no space. */
export function keyOf({ languageCode, folded }: PhraseKey): string {
  return `${languageCode} ${folded}`;
}

/**
 * Locks the vocabulary of an account until the transaction ends, so that changes and checks of its
 * size are serialized, and increases its revision, so that every node reads the phrases again.
 * Corrections add candidates without the lock.
 */
export async function beginChange(trx: Transaction<Tables>, accountId: string): Promise<void> {
  await trx
    .insertInto("vocabulary")
    .values({ account_id: accountId, revision: 1 })
    .onConflict((conflict) =>
      conflict.column("account_id").doUpdateSet({ revision: sql`vocabulary.revision + 1` }),
    )
    .execute();
}

/** Returns the states of those of these phrases that are stored, by keyOf(). */
export async function findStates(
  trx: Transaction<Tables>,
  accountId: string,
  phrases: readonly PhraseKey[],
): Promise<ReadonlyMap<string, PhraseState>> {
  const rows = await trx
    .selectFrom("vocabulary_phrase")
    .where("account_id", "=", accountId)
    .where(
      sql<boolean>`(language_code, folded) in (select * from unnest(
        ${phrases.map(({ languageCode }) => languageCode)}::text[],
        ${phrases.map(({ folded }) => folded)}::text[]))`,
    )
    .select(["language_code", "folded", "state"])
    .execute();
  return new Map(
    rows.map((row) => [keyOf({ languageCode: row.language_code, folded: row.folded }), row.state]),
  );
}

export async function countActive(trx: Transaction<Tables>, accountId: string): Promise<number> {
  const { count } = await trx
    .selectFrom("vocabulary_phrase")
    .where("account_id", "=", accountId)
    .where("state", "=", "ACTIVE")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Adds phrases, in the order of their keys, so that concurrent corrections cannot deadlock with
 * this. A stored candidate or rejected phrase is replaced, but for its source and its corrections.
 */
export async function putPhrases(
  trx: Transaction<Tables>,
  accountId: string,
  phrases: readonly CheckedPhrase[],
  added: Pick<StoredPhrase, "source" | "state">,
): Promise<StoredPhrase[]> {
  const stored: StoredPhrase[] = [];
  const ordered = inKeyOrder(phrases);
  for (let index = 0; index < ordered.length; index += rowsAtOnce) {
    const rows = ordered.slice(index, index + rowsAtOnce).map((phrase) => ({
      ...columnsOf(phrase),
      ...added,
      id: newId(),
      account_id: accountId,
    }));
    const put = await trx
      .insertInto("vocabulary_phrase")
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(["account_id", "language_code", "folded"]).doUpdateSet((row) => ({
          phrase: row.ref("excluded.phrase"),
          weight: row.ref("excluded.weight"),
          sounds_like: row.ref("excluded.sounds_like"),
          state: row.ref("excluded.state"),
          updated_at: sql<Date>`now()`,
        })),
      )
      .returning(shownColumns)
      .execute();
    stored.push(...put);
  }
  return stored;
}

/** Returns phrases in the order in which every transaction writes them. */
export function inKeyOrder(phrases: readonly CheckedPhrase[]): CheckedPhrase[] {
  return phrases.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** A statement has at most 65 535 parameters. */
const rowsAtOnce = 1000;

export function columnsOf({ languageCode, phrase, folded, weight, soundsLike }: CheckedPhrase) {
  return {
    language_code: languageCode,
    phrase,
    folded,
    weight,
    sounds_like: [...soundsLike],
  };
}

export async function findPhrase(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<StoredPhrase | undefined> {
  return await trx
    .selectFrom("vocabulary_phrase")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .select(shownColumns)
    .executeTakeFirst();
}

/**
 * Changes a phrase. Returns undefined if it was deleted, and "taken" if another one has its text;
 * the transaction then fails.
 */
export async function changePhrase(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
  changed: CheckedPhrase & Pick<StoredPhrase, "state">,
): Promise<StoredPhrase | "taken" | undefined> {
  const { state } = changed;
  try {
    return await trx
      .updateTable("vocabulary_phrase")
      .set({ ...columnsOf(changed), state, updated_at: sql<Date>`now()` })
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .returning(shownColumns)
      .executeTakeFirst();
  } catch (error) {
    if (error instanceof DatabaseError && error.code === uniqueViolation) return "taken";
    throw error;
  }
}

const uniqueViolation = "23505";

/** Returns whether the account had the phrase. */
export async function deletePhrase(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("vocabulary_phrase")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/**
 * Deletes the phrases of a state beyond the maximum: the candidates with the fewest corrections, or
 * else the oldest. Rows that another transaction has locked are left for its own call.
 */
export async function trimPhrases(
  trx: Transaction<Tables>,
  accountId: string,
  state: PhraseState,
  countMax: number,
): Promise<void> {
  await sql`
    delete from vocabulary_phrase where id in (
      select id from vocabulary_phrase where id in (
        select id from vocabulary_phrase
        where account_id = ${accountId} and state = ${state}
        order by case state when 'CANDIDATE' then correction_count end desc, updated_at desc, id
        offset ${countMax})
      for update skip locked)`.execute(trx);
}

/** Returns a page of an account's phrases by their folded text, and one more if there is one. */
export async function listPhrases(
  db: Kysely<Tables>,
  accountId: string,
  {
    state,
    languageCode,
    after,
    size,
  }: {
    readonly state: PhraseState | undefined;
    readonly languageCode: string | undefined;
    readonly after: ListPosition | undefined;
    readonly size: number;
  },
): Promise<StoredPhrase[]> {
  let query = db
    .selectFrom("vocabulary_phrase")
    .where("account_id", "=", accountId)
    .select(shownColumns)
    .orderBy("folded")
    .orderBy("id")
    .limit(size + 1);
  if (state !== undefined) query = query.where("state", "=", state);
  if (languageCode !== undefined) query = query.where("language_code", "=", languageCode);
  if (after) {
    const [folded, id] = after;
    query = query.where(sql<boolean>`(folded, id) > (${folded}, ${id}::uuid)`);
  }
  return await query.execute();
}
