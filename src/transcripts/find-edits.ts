import type { SegmentJson, WordJson } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { CheckedPhrase } from "../vocabulary/check-phrase.ts";
import { findCorrections, type EditedWords } from "../vocabulary/find-corrections.ts";
import type { PackedSegments } from "./segments.ts";
import { unpackedJson } from "./write-file.ts";

/**
 * The maximum length of the segments whose corrections are found, before and after a save: five
 * hours of speech. Longer ones would occupy a worker thread for a second.
 */
export const comparedBytesMax = 4 << 20;

type Packed = Pick<PackedSegments, "jsonZstd" | "jsonBytes">;

/** The whole text of a transcript before and after a save. */
export interface WholeEdit {
  readonly before: Packed;
  readonly after: Packed;
  readonly languageCode: string;
}

/** Finds the corrections between two texts. A task of worker-threads.ts. */
export function findEdits({ before, after, languageCode }: WholeEdit): CheckedPhrase[] {
  const edit = editedWords(unpackedJson(before), unpackedJson(after));
  return findCorrections([edit], languageCode);
}

/** Returns the words of two JSON arrays of segments. */
export function editedWords(before: string, after: string): EditedWords {
  const [removed, added] = [wordsIn(before), wordsIn(after)];
  const formatted = removed.flatMap(({ spoken }, index) => (spoken === undefined ? [] : [index]));
  return { before: textsOf(removed), after: textsOf(added), formatted: new Set(formatted) };
}

function wordsIn(json: string): WordJson[] {
  const segments: SegmentJson[] = JSON.parse(json);
  return segments.flatMap(({ words = [] }) => words);
}

function textsOf(words: readonly WordJson[]): string[] {
  return words.map(({ word = "" }) => word);
}
