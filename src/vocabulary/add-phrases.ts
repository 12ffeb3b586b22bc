import type { Kysely, Transaction } from "kysely";
import { audited } from "../auth/audit-log.ts";
import type { Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, type Violations } from "../std/service-error.ts";
import {
  checkPhrase,
  vocabularyLimits,
  type CheckedPhrase,
  type PhraseFields,
} from "./check-phrase.ts";
import {
  beginChange,
  countActive,
  findStates,
  keyOf,
  putPhrases,
  type StoredPhrase,
} from "./phrase-store.ts";

/** How phrases are added. */
export interface Adding extends Pick<StoredPhrase, "source" | "state"> {
  /** Returns the path of a phrase in the request: "", or text that ends with a period. */
  readonly pathOf: (index: number) => string;
  /** Whether phrases that are active or repeated are left out. They are violations otherwise. */
  readonly skipsExisting: boolean;
  /** The action in the audit log, and its resource. */
  readonly actOf: (stored: readonly StoredPhrase[]) => {
    readonly action: string;
    readonly resource: string;
  };
  readonly violations: Violations;
}

/**
 * Adds phrases in one commit. Throws invalid_argument with all violations: those of the phrases
 * themselves, phrases that are repeated, and phrases that are active already.
 */
export async function addPhrases(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  caller: Caller,
  phrases: readonly PhraseFields[],
  adding: Adding,
): Promise<StoredPhrase[]> {
  const { pathOf, violations, skipsExisting, source, state, actOf } = adding;
  const unique = new Map<string, { readonly phrase: CheckedPhrase; readonly index: number }>();
  for (const [index, fields] of phrases.entries()) {
    const phrase = checkPhrase(fields, pathOf(index), violations);
    const key = keyOf(phrase);
    const first = unique.get(key);
    if (phrase.folded === "") continue;
    if (!first) unique.set(key, { phrase, index });
    else if (!skipsExisting) {
      violations.add(`${pathOf(index)}phrase`, `is the same as phrases[${first.index}]`);
    }
  }
  return await audited(parts, caller, async (trx, record) => {
    await beginChange(trx, caller.accountId);
    const wanted = [...unique.values()];
    const keys = wanted.map(({ phrase }) => phrase);
    const states = await findStates(trx, caller.accountId, keys);
    const isActive = ({ phrase }: { readonly phrase: CheckedPhrase }) =>
      states.get(keyOf(phrase)) === "ACTIVE";
    if (!skipsExisting) {
      for (const { index } of wanted.filter(isActive)) {
        violations.add(`${pathOf(index)}phrase`, "is in the vocabulary already");
      }
    }
    violations.throwIfAny();
    const fresh = wanted.filter((each) => !isActive(each)).map(({ phrase }) => phrase);
    if (state === "ACTIVE") await checkRoom(trx, caller.accountId, fresh.length);
    const stored = await putPhrases(trx, caller.accountId, fresh, { source, state });
    await record({ ...actOf(stored), details: { phrases: `${stored.length}` } });
    return stored;
  });
}

/** Throws resource_exhausted if the account would have too many active phrases. */
export async function checkRoom(
  trx: Transaction<Tables>,
  accountId: string,
  added: number,
): Promise<void> {
  const { phrases: phrasesMax } = vocabularyLimits;
  const count = await countActive(trx, accountId);
  if (count + added <= phrasesMax) return;
  throw new ServiceError(
    "resource_exhausted",
    `the vocabulary would have ${count + added} active phrases; at most ${phrasesMax} are allowed`,
    { reason: "VOCABULARY_FULL", metadata: { limit: `${phrasesMax}` } },
  );
}
