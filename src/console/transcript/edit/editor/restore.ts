import type { Base, EditedParagraph } from "../model/base.ts";
import { withPins } from "../model/pins.ts";
import { recognized, type RecognizedText } from "../model/recognized.ts";
import type { WordTimes } from "../model/retimings.ts";
import { timesOf } from "../model/times.ts";
import type { EditCommand } from "./commands.ts";
import { paragraphAt } from "./places.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { RetimeStep } from "./retime-step.ts";
import { numberingOf, paragraphOf, retimingsOf } from "./schema.ts";

/** The version to which paragraphs are put back. */
export interface RestoredVersion {
  readonly base: Base;
  /** Whether its times are put back too. If they were aligned since, the newer ones are better. */
  readonly hasTimes: boolean;
}

/**
 * Puts the paragraph at an index back to what a version has at its time, in one step: the words,
 * and the times of those that the base has as well. Returns false if the version has nothing there.
 */
export function restoreParagraph(version: RestoredVersion, base: Base, index: number): EditCommand {
  return (state, dispatch) => {
    const place = paragraphAt(state.doc, index);
    const paragraph = place && paragraphOf(place.node);
    const found = paragraph && recognized(version.base, base, paragraph);
    if (!found) return false;
    const after = withPins({ ...paragraph, text: found.text }, []);
    const isSame = found.text === paragraph.text && !paragraph.pins;
    const replacement = { start: index, end: index + 1, paragraphs: [after] };
    const tr = replaceParagraphs(state, isSame ? [] : [replacement]);
    const wanted = timesAfter(version, base, { paragraph: after, found });
    const set = retimingsOf(state.doc);
    for (const [word, times] of wanted) {
      const before = set.get(word) ?? ownTimes(base, word);
      if (before.startTime === times.startTime && before.endTime === times.endTime) continue;
      tr.step(new RetimeStep(numberingOf(tr.doc).edge(word), before, times));
    }
    if (tr.docChanged) dispatch?.(tr);
    return true;
  };
}

/** Returns the times of the words of a run: those of the version where it has the word. */
function timesAfter(
  version: RestoredVersion,
  base: Base,
  { paragraph, found }: { readonly paragraph: EditedParagraph; readonly found: RecognizedText },
): Map<number, WordTimes> {
  const times = new Map<number, WordTimes>();
  for (let word = paragraph.from; word < paragraph.to; word += 1) {
    times.set(word, ownTimes(base, word));
  }
  if (!version.hasTimes) return times;
  const words = new Map(found.words.map(({ word, offset }) => [offset, word]));
  for (const { word, offset, text } of timesOf(base, paragraph)) {
    const same = words.get(offset);
    if (word === undefined || same === undefined) continue;
    const isSame = version.base.words[same]?.word?.trim() === text.trim();
    if (isSame) times.set(word, ownTimes(version.base, same));
  }
  return times;
}

function ownTimes({ words }: Base, word: number): WordTimes {
  const { startTime = "0s", endTime = "0s" } = words[word] ?? {};
  return { startTime, endTime };
}
