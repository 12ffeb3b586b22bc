import { hash } from "node:crypto";
import type { WrittenHypothesis } from "../../speech/result-writer.ts";

/** The model as Deepgram names it: by an id and by its name. */
export interface NamedModel {
  readonly uuid: string;
  readonly info: { readonly name: string; readonly version: string; readonly arch: string };
}

/** Returns the names of a model: its id is a hash of its name. */
export function namedModel(name: string, version: string): NamedModel {
  const hex = hash("sha256", name);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  const uuid = [...parts, hex.slice(20, 32)].join("-");
  return { uuid, info: { name, version, arch: "hlust" } };
}

/** A word with its times in milliseconds. */
interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly confidence?: number;
  /** The spoken words that it stands for, if they differ by more than capitals and marks. */
  readonly spoken?: string;
}

/**
 * Returns a word as it was said: in lower case without marks, and "two hundred" for "200". With
 * `punctuated` it also has its form in the text.
 */
export function wordOf(
  { text, startMs, endMs, confidence = 1, spoken }: TimedWord,
  { punctuated, speaker }: { readonly punctuated: boolean; readonly speaker?: number | undefined },
) {
  const written = text.trim();
  return {
    word: bareWord(spoken ?? written),
    start: seconds(startMs),
    end: seconds(endMs),
    confidence,
    ...(speaker !== undefined && { speaker, speaker_confidence: 1 }),
    ...(punctuated && { punctuated_word: written }),
  };
}

/** Returns a hypothesis as an alternative. Its confidence is 1 where the model reports none. */
export function alternativeOf(
  { text, confidence, words }: WrittenHypothesis,
  options: { readonly punctuated: boolean },
) {
  const known = words.flatMap((word) => word.confidence ?? []);
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length;
  return {
    transcript: text,
    confidence: confidence ?? (known.length > 0 ? mean : 1),
    words: words.map((word) => wordOf(word, options)),
  };
}

export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** Returns a word without its marks; a sign without letters and digits stays as it is. */
function bareWord(text: string): string {
  const bare = text.toLowerCase().replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}%]+$/gu, "");
  return bare === "" ? text : bare;
}
