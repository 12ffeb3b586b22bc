import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { isDeepStrictEqual } from "node:util";
import type { Kysely, Transaction } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  VocabularyPhraseSchema,
  type Vocabulary,
} from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, Violations } from "../std/service-error.ts";
import { checkLanguageCode, vocabularyLimits } from "./check-phrase.ts";
import { addPhrases, checkRoom } from "./add-phrases.ts";
import { phraseIdIn, phraseMessage, phraseNotFound, stateOf } from "./phrase-messages.ts";
import {
  beginChange,
  changePhrase,
  columnsOf,
  deletePhrase,
  findPhrase,
  listPhrases,
  trimPhrases,
  type StoredPhrase,
} from "./phrase-store.ts";
import { readChange, type Changed, type PhraseChange } from "./read-change.ts";

interface VocabularyParts {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  readonly log: Log;
}

/** The RPCs of vocabularies. Neither logs nor audit events have the texts of phrases. */
export function createVocabularyService(parts: VocabularyParts): ServiceImpl<typeof Vocabulary> {
  return { ...listMethod(parts), ...addingMethods(parts), ...changingMethods(parts) };
}

function listMethod({ db, pageTokens }: VocabularyParts) {
  return {
    async listVocabularyPhrases(request, context) {
      const { accountId } = callerOf(context);
      const violations = new Violations();
      const state = stateOf(request.state, "state", violations);
      const languageCode =
        request.languageCode === ""
          ? undefined
          : checkLanguageCode(request.languageCode, "languageCode", violations);
      const filter = JSON.stringify([state, languageCode]);
      const scope = { collection: "vocabularyPhrases", accountId, filter };
      const page = readPageRequest(pageTokens, scope, request);
      const ofPage = Array.isArray(page) ? page : [];
      for (const { field, description } of ofPage) violations.add(field, description);
      violations.throwIfAny();
      if (Array.isArray(page)) throw invalidArgument(page);
      const rows = await listPhrases(db, accountId, { state, languageCode, ...page });
      const shown = rows.slice(0, page.size);
      const last = shown.at(-1);
      const nextPageToken =
        last && rows.length > page.size ? pageTokens.write(scope, [last.folded, last.id]) : "";
      return { phrases: shown.map(phraseMessage), nextPageToken };
    },
  } satisfies Partial<ServiceImpl<typeof Vocabulary>>;
}

function addingMethods(parts: VocabularyParts) {
  return {
    async createVocabularyPhrase({ phrase = create(VocabularyPhraseSchema) }, context) {
      const caller = callerOf(context);
      const violations = new Violations();
      const state = stateOf(phrase.state, "state", violations) ?? "ACTIVE";
      const [stored] = await addPhrases(parts, caller, [phrase], {
        source: "USER",
        state,
        violations,
        skipsExisting: false,
        pathOf: () => "",
        actOf: (rows) => ({ action: "vocabulary.create", resource: nameOf(rows) }),
      });
      if (!stored) throw new Error("the phrase was not stored");
      return phraseMessage(stored);
    },

    async importVocabularyPhrases({ phrases, skipExisting }, context) {
      const caller = callerOf(context);
      const violations = new Violations();
      const { phrases: phrasesMax } = vocabularyLimits;
      if (phrases.length === 0) violations.add("phrases", "at least one is required");
      if (phrases.length > phrasesMax) {
        const problem = `has ${phrases.length} phrases; at most ${phrasesMax} are allowed`;
        violations.add("phrases", problem);
      }
      const stored = await addPhrases(parts, caller, phrases, {
        source: "IMPORT",
        state: "ACTIVE",
        violations,
        skipsExisting: skipExisting,
        pathOf: (index) => `phrases[${index}].`,
        actOf: () => ({ action: "vocabulary.import", resource: "vocabularyPhrases" }),
      });
      return {
        importedCount: stored.length,
        skippedCount: phrases.length - stored.length,
      };
    },
  } satisfies Partial<ServiceImpl<typeof Vocabulary>>;
}

function changingMethods(parts: VocabularyParts) {
  return {
    async updateVocabularyPhrase(request, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      const name = request.phrase?.name ?? "";
      const id = phraseIdIn(name);
      const change = readChange(request);
      const stored = await audited(parts, caller, async (trx, record) => {
        const row = await updatePhrase(trx, accountId, id, change);
        if (!row) throw phraseNotFound(name);
        const details = { fields: [...change.fields].join(","), state: row.state };
        await record({ action: "vocabulary.update", resource: name, details });
        return row;
      });
      return phraseMessage(stored);
    },

    async deleteVocabularyPhrase({ name }, context) {
      const caller = callerOf(context);
      const id = phraseIdIn(name);
      await audited(parts, caller, async (trx, record) => {
        await beginChange(trx, caller.accountId);
        if (!(await deletePhrase(trx, caller.accountId, id))) throw phraseNotFound(name);
        await record({ action: "vocabulary.delete", resource: name });
      });
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Vocabulary>>;
}

/** Changes a phrase; returns undefined if it does not exist. */
async function updatePhrase(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
  change: PhraseChange,
): Promise<StoredPhrase | undefined> {
  const found = await findPhrase(trx, accountId, id);
  // A change that changes nothing has no new revision.
  if (!found || isSame(change.apply(found), found)) return found;
  await beginChange(trx, accountId);
  // Another change may have ended while this one waited.
  const before = await findPhrase(trx, accountId, id);
  if (!before) return undefined;
  const changed = change.apply(before);
  const { state } = changed;
  if (state === "ACTIVE" && before.state !== state) await checkRoom(trx, accountId, 1);
  const row = await changePhrase(trx, accountId, id, changed);
  if (row === "taken") throw invalidArgument([{ field: "phrase", description: isThere }]);
  if (state === "REJECTED") await trimPhrases(trx, accountId, state, vocabularyLimits.rejected);
  return row;
}

function isSame(changed: Changed, row: StoredPhrase): boolean {
  return isDeepStrictEqual({ ...row, ...columnsOf(changed), state: changed.state }, row);
}

const isThere = "is in the vocabulary already: accept, change or delete that phrase";

function nameOf([row]: readonly StoredPhrase[]): string {
  return row ? `vocabularyPhrases/${row.id}` : "";
}
