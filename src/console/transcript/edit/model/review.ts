import type { Base, EditedParagraph } from "./base.ts";
import { later, type Moment } from "./moment.ts";
import { endOfWord, noRetimings, startOfWord, type Retimings } from "./retimings.ts";
import { timesOf } from "./times.ts";

/**
 * Returns when a paragraph is said: from the start of its run to the latest end of a word. It does
 * not depend on the text, so that typing changes nothing. A paragraph without a run is said when
 * its words are; undefined if it has none.
 */
export function spanOfParagraph(
  base: Base,
  paragraph: EditedParagraph,
  retimings: Retimings = noRetimings,
): { readonly start: Moment; readonly end: Moment } | undefined {
  const { from, to } = paragraph;
  if (from < to) {
    const start = startOfWord(base, retimings, from);
    let end = start;
    for (let word = from; word < to; word += 1) end = later(end, endOfWord(base, retimings, word));
    return { start, end };
  }
  const words = timesOf(base, paragraph, retimings);
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last) return undefined;
  return {
    start: { seconds: first.start, text: first.startTime },
    end: { seconds: last.end, text: last.endTime },
  };
}
