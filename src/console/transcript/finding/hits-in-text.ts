import type { Finder, Found } from "../edit/model/find.ts";
import { firstIndex, type SpokenText } from "../spoken-text.ts";

/** A place in a text where something was found. */
export interface Hit extends Found {
  /** The index of its paragraph. */
  readonly paragraph: number;
}

/**
 * Hits in reading order, in arrays, since a letter is found half a million times in a long text:
 * the index of the paragraph of each, and where it begins and ends there.
 */
export interface Hits {
  readonly paragraphs: readonly number[];
  readonly froms: readonly number[];
  readonly tos: readonly number[];
}

export const noHits: Hits = { paragraphs: [], froms: [], tos: [] };

/** Finds all hits, and yields after each paragraph. */
export function* hitsInSteps(
  { paragraphs }: Pick<SpokenText, "paragraphs">,
  finder: Finder,
): Generator<void, Hits, void> {
  const hits = { paragraphs: [] as number[], froms: [] as number[], tos: [] as number[] };
  for (const [at, { text }] of paragraphs.entries()) {
    for (const { from, to } of finder(text)) {
      hits.paragraphs.push(at);
      hits.froms.push(from);
      hits.tos.push(to);
    }
    yield;
  }
  return hits;
}

/** Returns a hit by its index; undefined if there is none. */
export function hitAt({ paragraphs, froms, tos }: Hits, index: number): Hit | undefined {
  const [paragraph, from, to] = [paragraphs[index], froms[index], tos[index]];
  if (paragraph === undefined || from === undefined || to === undefined) return undefined;
  return { paragraph, from, to };
}

/** Returns the index of the first hit in a paragraph or after it; the number of hits if none is. */
export function firstHitFrom({ paragraphs }: Hits, paragraph: number): number {
  return firstIndex(paragraphs.length, (at) => (paragraphs[at] ?? 0) >= paragraph);
}

/** The maximum number of characters that are shown before and after a hit. */
const aroundMax = 48;

/** Returns the words around a hit in three parts: before it, the hit, and after it. */
export function wordsAround(text: string, { from, to }: Found): readonly [string, string, string] {
  const space = text.indexOf(" ", from - aroundMax);
  const isNear = space >= 0 && space < from;
  const start = from <= aroundMax ? 0 : isNear ? space + 1 : from;
  const last = text.lastIndexOf(" ", to + aroundMax);
  const end = text.length <= to + aroundMax ? text.length : Math.max(last, to);
  return [
    (start > 0 ? "…" : "") + text.slice(start, from),
    text.slice(from, to),
    text.slice(to, end) + (end < text.length ? "…" : ""),
  ];
}
