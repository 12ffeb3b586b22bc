import { alignWords, type Edit } from "./align-words.ts";
import { countCharacterErrors } from "./count-character-errors.ts";
import { findDifferences, type Difference } from "./find-differences.ts";
import {
  normalizeWords,
  sourceWords,
  type Normalization,
} from "./normalization/normalize-words.ts";
import type { Token } from "./normalization/token.ts";
import type { ScorableText } from "./scorable-text.ts";

/** Errors of a text. The error rate is errors divided by length, and may be more than 1. */
export interface ErrorCounts {
  /** The number of words, or characters, of the reference. */
  readonly length: number;
  readonly errors: number;
}

export interface WordErrorCounts extends ErrorCounts {
  readonly substitutions: number;
  readonly deletions: number;
  readonly insertions: number;
}

export interface RecordingScore {
  readonly said: readonly Token[];
  readonly recognized: readonly Token[];
  readonly edits: readonly Edit[];
  readonly words: WordErrorCounts;
  /** Counts characters of the normalized words, joined by single spaces. */
  readonly characters: ErrorCounts;
  readonly differences: readonly Difference[];
}

/** Compares the recognized words of a recording with its reference text. */
export function scoreRecording(text: ScorableText, normalization: Normalization): RecordingScore {
  const { languageCode } = text;
  const how = { normalization, languageCode };
  const said = normalizeWords(sourceWords(text.text), how);
  const recognized = normalizeWords(
    text.recognized.map((word) => word.text),
    how,
  );
  const [saidTexts, recognizedTexts] = [said, recognized].map((tokens) =>
    tokens.map((token) => token.text),
  );
  const edits = alignWords(saidTexts ?? [], recognizedTexts ?? []);
  const [saidText = "", recognizedText = ""] = [saidTexts, recognizedTexts].map(
    (texts) => texts?.join(" ") ?? "",
  );
  return {
    said,
    recognized,
    edits,
    words: wordErrorCounts(edits),
    characters: {
      length: Array.from(saidText).length,
      errors: countCharacterErrors(saidText, recognizedText),
    },
    differences: findDifferences({ said, recognized, edits }, text),
  };
}

function wordErrorCounts(edits: readonly Edit[]): WordErrorCounts {
  const counts = { same: 0, substitution: 0, deletion: 0, insertion: 0 };
  for (const { kind } of edits) counts[kind] += 1;
  const { same, substitution, deletion, insertion } = counts;
  return {
    length: same + substitution + deletion,
    errors: substitution + deletion + insertion,
    substitutions: substitution,
    deletions: deletion,
    insertions: insertion,
  };
}

/** Returns the sum of the errors of several recordings. */
export function totalWordErrors(counts: readonly WordErrorCounts[]): WordErrorCounts {
  const sum = (field: keyof WordErrorCounts): number =>
    counts.reduce((total, each) => total + each[field], 0);
  return {
    length: sum("length"),
    errors: sum("errors"),
    substitutions: sum("substitutions"),
    deletions: sum("deletions"),
    insertions: sum("insertions"),
  };
}
