import { create } from "@bufbuild/protobuf";
import {
  VocabularyPhrase_Source as Source,
  VocabularyPhrase_State as State,
  VocabularyPhraseSchema,
  type VocabularyPhrase,
} from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { idIn } from "../std/ids.ts";
import { ServiceError, shown, type Violations } from "../std/service-error.ts";
import type { PhraseState, StoredPhrase } from "./phrase-store.ts";

export function phraseMessage(row: StoredPhrase): VocabularyPhrase {
  return create(VocabularyPhraseSchema, {
    name: `vocabularyPhrases/${row.id}`,
    phrase: row.phrase,
    languageCode: row.language_code,
    weight: row.weight,
    soundsLike: row.sounds_like,
    source: Source[row.source],
    state: State[row.state],
    correctionCount: row.correction_count,
    createTime: timestampFromDate(row.created_at),
    updateTime: timestampFromDate(row.updated_at),
  });
}

/** Returns a state of the contract as it is stored; undefined if it is not set. */
export function stateOf(
  state: State,
  field: string,
  violations: Violations,
): PhraseState | undefined {
  switch (state) {
    case State.STATE_UNSPECIFIED:
      return undefined;
    case State.ACTIVE:
      return "ACTIVE";
    case State.CANDIDATE:
      return "CANDIDATE";
    case State.REJECTED:
      return "REJECTED";
    default:
      violations.add(field, `must be ACTIVE, CANDIDATE or REJECTED, not ${String(state)}`);
      return undefined;
  }
}

/** Returns the id in vocabularyPhrases/<id>. Throws not_found, as for an absent phrase. */
export function phraseIdIn(name: string): string {
  const id = idIn("vocabularyPhrases", name);
  if (id === undefined) throw phraseNotFound(name);
  return id;
}

/** Returns the error for a phrase that does not exist or belongs to another account. */
export function phraseNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no phrase ${shown(name)}`, {
    reason: "PHRASE_NOT_FOUND",
  });
}
