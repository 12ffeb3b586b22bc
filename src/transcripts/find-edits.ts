import type { SegmentJson } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
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
  const edit = { before: wordsIn(unpackedJson(before)), after: wordsIn(unpackedJson(after)) };
  return findCorrections([edit], languageCode);
}

/** Returns the words of ranges of segments that are replaced, given as JSON. */
export function editedWords(before: string, after: string): EditedWords {
  return { before: wordsIn(`[${before}]`), after: wordsIn(`[${after}]`) };
}

function wordsIn(json: string): string[] {
  const segments: SegmentJson[] = JSON.parse(json);
  return segments.flatMap(({ words = [] }) => words.map(({ word = "" }) => word));
}
