import { foldText } from "../../../../std/fold-text.ts";
import type { EditedParagraph } from "./base.ts";
import { pinsAfter, withPins } from "./pins.ts";

/** What a user searches for in a text. */
export interface Search {
  readonly text: string;
  /** Whether capitals and small letters differ. */
  readonly isCaseExact: boolean;
  /** Whether only whole words are found. */
  readonly isWholeWords: boolean;
}

/** A place in a text where something was found: offsets in UTF-16 code units. */
export interface Found {
  readonly from: number;
  readonly to: number;
}

/** Returns the places in a text where something is found, in order. They do not overlap. */
export type Finder = (text: string) => readonly Found[];

/**
 * Returns what finds a phrase. Letters are compared as characters, however they are encoded, and
 * unless case is exact as in the searches of the service; any white space in a phrase finds any
 * other. Returns undefined if there is nothing to search for.
 */
export function finderOf({ text, isCaseExact, isWholeWords }: Search): Finder | undefined {
  const fold = isCaseExact ? (part: string): string => part.normalize("NFC") : foldText;
  const words = fold(text);
  if (words.trim() === "") return undefined;
  const phrase = words
    .split(/\s+/)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join("\\s+");
  const head = isWholeWords && /^[\p{L}\p{M}\p{N}]/u.test(words) ? "(?<![\\p{L}\\p{M}\\p{N}])" : "";
  const tail = isWholeWords && /[\p{L}\p{M}\p{N}]$/u.test(words) ? "(?![\\p{L}\\p{M}\\p{N}])" : "";
  const pattern = new RegExp(`${head}${phrase}${tail}`, "gu");
  return (text) => {
    const folded = fold(text);
    const found = [...folded.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      from: index,
      to: index + length,
    }));
    if (found.length === 0 || keepsOffsets(text, folded)) return found;
    const offsets = offsetsOf(text, fold);
    const places = found.map(({ from, to }) => ({
      from: offsets.starts[from] ?? text.length,
      to: offsets.ends[to] ?? text.length,
    }));
    // Each s of ß is found, but it is one place.
    return places.filter(({ from }, at) => at === 0 || from >= (places[at - 1]?.to ?? 0));
  };
}

/**
 * Whether each character of a text has its place in the folded text as well. Without marks, which
 * may be joined with their letters, no character becomes shorter.
 */
function keepsOffsets(text: string, folded: string): boolean {
  return text.length === folded.length && !/\p{M}/u.test(text);
}

const clusters = new Intl.Segmenter("is", { granularity: "grapheme" });

/**
 * Returns for each offset in the folded text the one in the text: for a start, where its character
 * begins, and for an end, where its character ends.
 */
function offsetsOf(
  text: string,
  fold: (part: string) => string,
): { readonly starts: readonly number[]; readonly ends: readonly number[] } {
  const starts: number[] = [];
  const ends: number[] = [0];
  for (const { segment, index } of clusters.segment(text)) {
    const { length } = fold(segment);
    for (let at = 0; at < length; at++) {
      starts.push(index);
      ends.push(index + segment.length);
    }
  }
  return { starts, ends };
}

/** Replaces places in a text, which are in order. */
export function withReplaced(text: string, found: readonly Found[], by: string): string {
  let end = 0;
  const parts = found.map(({ from, to }) => {
    const kept = text.slice(end, from);
    end = to;
    return kept + by;
  });
  return parts.join("") + text.slice(end);
}

/** Replaces places in the text of a paragraph, which are in order. Its pins move with the text. */
export function withHitsReplaced(
  paragraph: EditedParagraph,
  found: readonly Found[],
  by: string,
): EditedParagraph {
  const pins = found.reduceRight(
    (after, place) => pinsAfter(after, place, by.length),
    [...(paragraph.pins ?? [])],
  );
  return withPins({ ...paragraph, text: withReplaced(paragraph.text, found, by) }, pins);
}
