import { create } from "@bufbuild/protobuf";
import {
  VocabularyPhraseSchema,
  type UpdateVocabularyPhraseRequest,
  type VocabularyPhrase,
} from "../gen/hlust/speech/v2beta1/vocabulary_pb.ts";
import { shown, Violations } from "../std/service-error.ts";
import { checkPhrase, type CheckedPhrase } from "./check-phrase.ts";
import { stateOf } from "./phrase-messages.ts";
import type { PhraseState, StoredPhrase } from "./phrase-store.ts";

/** The fields of a phrase that callers can change. */
const changeable = ["phrase", "languageCode", "weight", "soundsLike", "state"] as const;
type Changeable = (typeof changeable)[number];

/** A change: the names of its fields, and what a stored phrase becomes. */
export interface PhraseChange {
  readonly fields: ReadonlySet<Changeable>;
  /** Throws invalid_argument with every violation of the changed phrase. */
  readonly apply: (row: StoredPhrase) => Changed;
}

export type Changed = CheckedPhrase & { readonly state: PhraseState };

/** Returns what an update changes. Throws all violations of the fields that it names. */
export function readChange(request: UpdateVocabularyPhraseRequest): PhraseChange {
  const sent = request.phrase ?? create(VocabularyPhraseSchema);
  const violations = new Violations();
  const fields = fieldsOf(request, sent, violations);
  if (violations.isEmpty && fields.size === 0) {
    violations.add("phrase", `at least one of ${changeable.join(", ")} is required`);
  }
  const state = stateOf(sent.state, "state", violations);
  if (fields.has("state") && state === undefined && violations.isEmpty) {
    violations.add("state", "must be ACTIVE, CANDIDATE or REJECTED");
  }
  violations.throwIfAny();
  return {
    fields,
    apply(row) {
      const found = new Violations();
      const before = {
        phrase: row.phrase,
        languageCode: row.language_code,
        weight: row.weight,
        soundsLike: row.sounds_like,
      };
      const named = changeable.filter((field) => field !== "state" && fields.has(field));
      const after = Object.fromEntries(named.map((field) => [field, sent[field]]));
      const changed = checkPhrase({ ...before, ...after }, "", found);
      found.throwIfAny();
      return { ...changed, state: (fields.has("state") && state) || row.state };
    },
  };
}

/**
 * Returns the fields that a mask names, in proto or JSON names, or the fields that are set if there
 * is no mask. Output-only fields are skipped.
 */
function fieldsOf(
  { updateMask }: UpdateVocabularyPhraseRequest,
  phrase: VocabularyPhrase,
  violations: Violations,
): Set<Changeable> {
  const paths = updateMask?.paths ?? [];
  if (paths.length === 0) return new Set(changeable.filter((field) => isSet(phrase[field])));
  const fields = new Set<Changeable>();
  for (const path of paths) {
    const named = VocabularyPhraseSchema.fields.find(({ name, jsonName }) =>
      [name, jsonName].includes(path),
    );
    const field = changeable.find((each) => each === named?.localName);
    if (field) fields.add(field);
    else if (!named) violations.add("updateMask", `${shown(path)} is not a field of a phrase`);
  }
  return new Set(changeable.filter((field) => fields.has(field)));
}

function isSet(value: string | readonly string[] | number): boolean {
  return typeof value === "number" ? value !== 0 : value.length > 0;
}
